"""Makes a dataset folder of samples near those of another one: each is a sample
moved up to half way towards a second one (of its class in half of the cases) plus
noise of a tenth of each feature's deviation.

  index_mih.py DATASET OUT COUNT SEED        such a folder, for `crossilo encode`
  index_mih.py join OUT.npy PIECE.npy...     rows of the pieces in one file
"""
import os
import shutil
import sys

import numpy as np


def mix(source, out, count, seed):
    rng = np.random.default_rng(seed)
    labels = np.load(f"{source}/labels.npy").argmax(1)
    by_class = np.argsort(labels, kind="stable")
    first = np.searchsorted(labels[by_class], np.arange(labels.max() + 1))
    size = np.bincount(labels)
    one = rng.integers(0, len(labels), count)
    akin = by_class[first[labels[one]] + (rng.random(count) * size[labels[one]]).astype(int)]
    other = np.where(rng.random(count) < 0.5, akin, rng.integers(0, len(labels), count))
    way = rng.random((count, 1), "float32") / 2
    os.makedirs(f"{out}/splits", exist_ok=True)
    for name in ("image", "text"):
        real = np.load(f"{source}/{name}.npy").astype("float32")
        mixed = np.empty((count, real.shape[1]), "float16")
        for at in range(0, count, 1 << 16):
            rows = slice(at, min(count, at + (1 << 16)))
            noise = rng.standard_normal(mixed[rows].shape, "float32") * (real.std(0) / 10)
            mixed[rows] = real[one[rows]] * (1 - way[rows]) + real[other[rows]] * way[rows] + noise
        np.save(f"{out}/{name}.npy", mixed)
    np.save(f"{out}/labels.npy", np.ones((count, 1), "uint8"))
    np.save(f"{out}/splits/query.npy", np.arange(1, dtype="int32"))
    for split in ("retrieval", "training"):
        np.save(f"{out}/splits/{split}.npy", np.arange(1, count, dtype="int32"))
    # The model asks who made the features.
    toml = open(f"{source}/dataset.toml").read()
    with open(f"{out}/dataset.toml", "w") as file:
        file.write('format = 1\nname = "mixtures"\n\n' + toml[toml.index("[embedding.image]"):])
    shutil.copytree(f"{source}/embedding", f"{out}/embedding", dirs_exist_ok=True)


if sys.argv[1] == "join":
    np.save(sys.argv[2], np.concatenate([np.load(piece) for piece in sys.argv[3:]]))
else:
    mix(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
