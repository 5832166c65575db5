#!/usr/bin/env bash
# A job for every night: `nightly.sh DATA RUN`. It may be killed at any moment and started again: a finished stage is not
# computed twice, and confirmed pairs of the review app are anchors in the next run.
set -euo pipefail
data=$1 run=$2

kedge match "$data/left.csv" "$data/right.csv" --anchors "$data/known.csv" -o "$run" --quiet --json > "$run.summary.json"
kedge decide "$run" --precision 0.85 --quiet
kedge export "$run" -o "$run.parquet" --force
