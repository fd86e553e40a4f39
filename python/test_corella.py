"""python3 -m unittest, in this folder, after npm run build. Arrays are compared with astropy's and h5py's where those are installed."""

import os
import subprocess
import tempfile
import unittest

import numpy as np

import corella

HERE = os.path.dirname(os.path.abspath(__file__))
os.environ.setdefault("CORELLA", os.path.join(HERE, "..", "dist", "cli", "main.js"))


def call(folder, *words):
    subprocess.run(corella.command() + list(words), cwd=folder, check=True, stdout=subprocess.PIPE)


class Reading(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = cls.temporary.name
        call(cls.folder, "simulate", "--stations", "5", "--rate", "100kHz", "--duration", "10ms", "--perfect", "-o", "sky")
        cls.summary = corella.run(
            {
                "corella": 1,
                "source": {"recording": os.path.join(cls.folder, "sky.sigmf-meta")},
                "front": {"channels": 4},
                "products": [
                    {"visibilities": "sky.uvfits"},
                    {"visibilities": "sky.uvh5"},
                    {"images": "sky.fits", "pixels": 64},
                ],
            },
            into=cls.folder,
        )
        call(cls.folder, "calibrate", "sky.uvfits", "-o", "gains.json")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def path(self, name):
        return os.path.join(self.folder, name)

    def test_visibilities(self):
        data = corella.read(self.path("sky.uvfits"))
        # 15 pairs of 5 stations, 4 channels, 4 products.
        self.assertEqual(data.values.shape, (15, 4, 4))
        self.assertEqual([name for name, _, _ in data.axes], ["row", "frequency", "polarisation"])
        self.assertTrue((data.weights > 0).all())
        np.testing.assert_allclose(np.diff(data.axis("frequency")), 25e3)
        autos = data.more["antennas"][:, 0] == data.more["antennas"][:, 1]
        self.assertEqual(autos.sum(), 5)
        self.assertTrue((data.values[autos][:, :, 0].real > 0).all())
        self.assertTrue((data.more["uvw_m"][autos] == 0).all())
        with self.assertRaises(KeyError):
            data.axis("colour")

    def test_visibilities_as_astropy_reads_them(self):
        fits = self.module("astropy.io.fits")
        data = corella.read(self.path("sky.uvfits"))
        with fits.open(self.path("sky.uvfits")) as opened:
            groups = opened[0].data
            block = groups.data.reshape((-1,) + data.values.shape[1:] + (3,))
            np.testing.assert_array_equal(data.values, block[..., 0] + 1j * block[..., 1])
            np.testing.assert_array_equal(data.weights, block[..., 2])
            np.testing.assert_allclose(data.more["uvw_m"][:, 0], groups.par("UU") * 299792458.0, rtol=1e-6)
            np.testing.assert_allclose(data.more["julian_date"], groups.par("DATE"), rtol=0, atol=1e-9)

    def test_both_formats_hold_the_same(self):
        self.module("h5py")
        one, other = (corella.read(self.path(name)) for name in ("sky.uvfits", "sky.uvh5"))
        order = {tuple(pair): n for n, pair in enumerate(other.more["antennas"])}
        codes = list(other.axis("polarisation"))
        crossed = {-5: -5, -6: -6, -7: -8, -8: -7}
        for n, (first, second) in enumerate(one.more["antennas"]):
            for k, code in enumerate(one.axis("polarisation")):
                if (first, second) in order:
                    mine = other.values[order[(first, second)], :, codes.index(code)]
                else:
                    mine = other.values[order[(second, first)], :, codes.index(crossed[code])].conj()
                # UVH5 has the conjugate convention (docs/conventions.md).
                np.testing.assert_allclose(one.values[n, :, k], mine.conj(), rtol=2e-6, atol=1e-3)

    def test_image_as_astropy_reads_it(self):
        image = corella.read(self.path("sky.fits"))
        self.assertEqual([name for name, _, _ in image.axes][-2:], ["m", "l"])
        self.assertGreater(image.axis("m")[-1], image.axis("m")[0])
        self.assertLess(image.axis("l")[-1], image.axis("l")[0])
        fits = self.module("astropy.io.fits")
        with fits.open(self.path("sky.fits")) as opened:
            np.testing.assert_array_equal(image.values, opened[0].data)
            self.assertEqual(image.unit, opened[0].header["BUNIT"])
            self.assertEqual(image.head["CRVAL1"], opened[0].header["CRVAL1"])

    def test_gains(self):
        gains = corella.read(self.path("gains.json"))
        self.assertEqual(gains.values.shape, (4, 5, 2))
        self.assertEqual(list(gains.axis("station")), gains.head["stations"])
        self.assertTrue(np.isfinite(gains.values).all())

    def test_refusals(self):
        with self.assertRaisesRegex(corella.CorellaError, "products"):
            corella.run({"corella": 1, "source": {"recording": self.path("sky.sigmf-meta")}, "products": []})
        with self.assertRaisesRegex(corella.CorellaError, "not a whole FITS file"):
            corella.read_fits(self.path("gains.json").replace("gains.json", self.short()))

    def short(self):
        with open(self.path("short.fits"), "wb") as file:
            file.write(b"SIMPLE  =                    T")
        return "short.fits"

    def module(self, name):
        try:
            return __import__(name, fromlist=["x"])
        except ImportError:
            self.skipTest("needs " + name)


class Live(unittest.TestCase):
    def test_follows_images(self):
        with tempfile.TemporaryDirectory() as folder:
            token = os.path.join(folder, "token")
            words = ["sky", "--stations", "8", "--rate", "4kHz", "--pixels", "64", "--page", "0", "--token-file", token]
            process = subprocess.Popen(corella.command() + words, stderr=subprocess.PIPE, encoding="utf8")
            try:
                url = None
                for line in process.stderr:
                    if "the sky is at " in line:
                        url = line.split("the sky is at ")[1].split(";")[0].strip()
                        break
                self.assertIsNotNone(url)
                found = list(corella.follow(url, images=2))
                self.assertEqual([one.values.shape for one in found], [(64, 64)] * 2)
                self.assertGreater(found[1].head["number"], found[0].head["number"])
                self.assertTrue(np.isnan(found[0].values[0, 0]), "below the horizon")
                self.assertEqual(corella.status(url)["telescope"], "lwasv")
                with open(token, encoding="utf8") as file:
                    secret = file.read().strip()
                self.assertTrue(corella.steer(url, "flags", secret, inputs=[0], flag=True)["accepted"])
                with self.assertRaises(corella.CorellaError):
                    corella.steer(url, "flags", "wrong", inputs=[0], flag=True)
            finally:
                process.terminate()
                process.stderr.close()
                process.wait()


if __name__ == "__main__":
    unittest.main()
