"""The builder and the decoder of these tests agree with each other and with known vectors."""

import random
import unittest

import vectors


class VectorsTest(unittest.TestCase):
    def test_known_vectors(self):
        for name, (blob, positions) in vectors.VALID.items():
            with self.subTest(name):
                self.assertEqual(vectors.decode_frame(blob), positions)

    def test_packs_known_vectors(self):
        for name in ("empty", "three", "high key", "two keys", "run", "full run"):
            with self.subTest(name):
                blob, positions = vectors.VALID[name]
                self.assertEqual(vectors.frame(vectors.pack(positions)), blob)

    def test_round_trip(self):
        for seed in range(3):
            positions = vectors.decode_frame(vectors.random_vector(random.Random(seed)))
            self.assertEqual(vectors.decode64(vectors.pack(positions)), positions)

    def test_full_runs(self):
        self.assertEqual(len(vectors.full_runs(65536)), 925724)
        self.assertEqual(vectors.decode_frame(vectors.full_runs(5)), list(range(5 * 65536)))


if __name__ == "__main__":
    unittest.main()
