"""Files and columns that tamis.parquet supports."""
import pyarrow as pa
import pyarrow.parquet as pq

import tamis.parquet as tp


def test_names_may_go_on_behind_a_dot(tmp_path):
    table = pa.table({"x.y": range(1000), "x": range(5000, 6000),
                      "s": [{"a": 1, "b": i} for i in range(1000)]})
    pq.write_table(table, tmp_path / "old.parquet")
    tp.add(tmp_path / "old.parquet", tmp_path / "new.parquet", ["x", "x.y", "s.b"], force=True, fpr=1e-6)
    for name, key, outcome in (("x", 5500, "hits"), ("x.y", 500, "hits"), ("s.b", 500, "hits"),
                               ("x", 1 << 20, "filter"), ("x.y", 5500, "filter")):
        group, = tp.prune(tmp_path / "new.parquet", name, [key], bounds=False).files[0].row_groups
        assert group.outcome == outcome, (name, key)


def test_folders_are_those_of_the_command(tmp_path):
    for below in ("lake/deep", "elsewhere"):
        (tmp_path / below).mkdir(parents=True)
    for name in ("lake/a.parquet", "lake/deep/B.PARQUET", "elsewhere/c.parq", "elsewhere/.d.parquet"):
        pq.write_table(pa.table({"x": [1, 2]}), tmp_path / name)
    (tmp_path / "lake" / "link").symlink_to(tmp_path / "elsewhere")
    kept = tp.prune(tmp_path / "lake", "x", [1]).paths
    assert kept == [str(tmp_path / "lake" / name)
                    for name in ("a.parquet", "deep/B.PARQUET", "link/c.parq")]
    assert [file.path for file in tp.info(tmp_path / "lake")] == kept
