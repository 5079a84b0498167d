#!/usr/bin/env python3
"""Renews the figures of benches/README.md: runs the commands of its sections.

  python3 benches/metrics.py                    # the sections, with the commands of each
  python3 benches/metrics.py text passes        # runs those of sections whose titles contain a word
  python3 benches/metrics.py all

Commands that install packages are left to the reader, as are those with places to fill in, such as FOLDER.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INSTALLS = ('apt-get ', 'pip ')


def sections(text):
    """Yields the title of each section and the commands of its blocks of shell."""
    for part in re.split(r'^## ', text, flags=re.M)[1:]:
        title, body = part.split('\n', 1)
        blocks = re.findall(r'^```sh\n(.*?)^```', body, flags=re.M | re.S)
        lines = [line.split('  #')[0].strip() for block in blocks for line in block.splitlines()]
        yield title, [line for line in lines if line and not line.startswith(INSTALLS)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('words', nargs='*', help='run sections whose titles contain one of these; all for every section')
    words = [word.lower() for word in parser.parse_args().words]
    found = [(title, commands) for title, commands in sections((ROOT / 'benches/README.md').read_text())
             if not words or 'all' in words or any(word in title.lower() for word in words)]
    if not found:
        sys.exit(f'no section has {" or ".join(words)} in its title')
    failed = []
    for title, commands in found:
        print(f'## {title}', flush=True)
        for command in commands:
            print(f'$ {command}', flush=True)
            if not words:
                continue
            if re.search(r'\b[A-Z]{4,}\b', command):
                print('left out: fill in the words in capitals', flush=True)
            elif subprocess.run(command, shell=True, cwd=ROOT, check=False).returncode != 0:
                failed.append(command)
    if failed:
        sys.exit('failed: ' + '; '.join(failed))


if __name__ == '__main__':
    main()
