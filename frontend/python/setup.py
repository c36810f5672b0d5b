"""Puts the command and the library into the package, if they are built.

Without them the package works as an exporter, and finds an installed library
when it needs one.
"""
import pathlib
import shutil

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

BUILD = pathlib.Path(__file__).resolve().parent.parent.parent / "build"
BUILT = [BUILD / name for name in ("jaxvet", "jaxvet-solver", "libjaxvet.so",
                                       "libjaxvet_pjrt.so")
         if (BUILD / name).is_file()]


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        target = pathlib.Path(self.build_lib) / "jaxvet" / "_lib"
        for path in BUILT:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target / path.name)


class Platform(Distribution):
    def has_ext_modules(self):
        return bool(BUILT)


setup(cmdclass={"build_py": BuildWithLibrary}, distclass=Platform)
