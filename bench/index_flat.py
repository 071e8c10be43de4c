"""The newest faiss's half of index_flat: what index_flat_faiss.cc does, in Python.

    python3 -m venv venv && venv/bin/pip install faiss-cpu
    venv/bin/python bench/index_flat.py threads bits folder

prints the seconds of a batch by the clock and of processors, those of a single
query, and "equal" or "different".
"""

import sys
import time

import faiss
import numpy as np

SINGLES, TOP = 20, 50


def equal(distances, ids, folder):
    """Equal distances, and equal ids below the k-th one."""
    our_distances = np.fromfile(f"{folder}/distances", np.int32).reshape(-1, TOP)
    our_ids = np.fromfile(f"{folder}/ids", np.int64).reshape(-1, TOP)
    if not np.array_equal(distances, our_distances):
        return False
    nearer = our_distances < our_distances[:, -1:]
    return all(
        np.array_equal(np.sort(a[n]), np.sort(b[n]))
        for a, b, n in zip(ids, our_ids, nearer)
    )


def main():
    threads, bits, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    faiss.omp_set_num_threads(threads)
    codes = np.fromfile(f"{folder}/codes", np.uint8).reshape(-1, bits // 8)
    queries = np.fromfile(f"{folder}/queries", np.uint8).reshape(-1, bits // 8)
    index = faiss.IndexBinaryFlat(bits)
    index.add(codes)
    del codes
    start, before = time.perf_counter(), time.process_time()
    distances, ids = index.search(queries, TOP)
    batch = time.perf_counter() - start, time.process_time() - before
    start, before = time.perf_counter(), time.process_time()
    for i in range(SINGLES):
        index.search(queries[i : i + 1], TOP)
    single = time.perf_counter() - start, time.process_time() - before
    same = equal(distances, ids, folder)
    seconds = [*batch, *(s / SINGLES for s in single)]
    print(*(f"{s:.6f}" for s in seconds), "equal" if same else "different")
    sys.exit(0 if same else 1)


main()
