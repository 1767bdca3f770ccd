"""tamis-report: compares and draws results of tamis-bench. See tamis_report/cli.py."""
import sys

from tamis_report import cli

if __name__ == "__main__":
    # The page declares UTF-8, whatever the locale. A label may contain any character.
    sys.stdout.reconfigure(encoding="utf-8")
    sys.exit(cli.main(sys.argv[1:]))
