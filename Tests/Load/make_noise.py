#!/usr/bin/env python3
"""Writes a request log that hardly compresses, so that 3,000 records give a bundle of more than 4 MB.

    make_noise.py FOLDER --records 3000

The log is FOLDER/many.ndjson. FOLDER is created. The same arguments always give the same output.
"""

import argparse
import base64
import json
import os
import random


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--records", type=int, default=3000)
    options = parser.parse_args()
    generator = random.Random(16)
    os.makedirs(options.folder)
    with open(os.path.join(options.folder, "many.ndjson"), "w", encoding="utf-8") as lines:
        for number in range(options.records):
            path = "/submit/telemetry/%08x-0000-4000-8000-000000000000/core/Focus/8.1.3/release/4236" % number
            noise = base64.b64encode(generator.randbytes(1500)).decode()
            body = {"v": 7, "clientId": "C", "seq": number, "noise": noise}
            entry = {"url": "https://incoming.telemetry.mozilla.org" + path, "method": "POST", "body": json.dumps(body)}
            lines.write(json.dumps(entry) + "\n")


if __name__ == "__main__":
    main()
