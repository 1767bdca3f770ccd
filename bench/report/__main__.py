"""tamis-report: compares and draws results of tamis-bench. See tamis_report/cli.py."""
import sys

from tamis_report import cli

if __name__ == "__main__":
    sys.exit(cli.main(sys.argv[1:]))
