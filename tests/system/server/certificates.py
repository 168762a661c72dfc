"""Certificates for one test, by the program openssl, in a folder of the test's own."""

import pathlib
import shutil
import subprocess
import tempfile


def _openssl(folder, *words):
    subprocess.run(["openssl", *map(str, words)], cwd=folder, check=True, capture_output=True)


class Authority:
    """Signs certificates; its own is NAME.crt."""

    def __init__(self, folder, name):
        self.folder, self.name = pathlib.Path(folder), name
        _openssl(folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                 "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out",
                 f"{name}.crt")
        self.file = str(self.folder / f"{name}.crt")

    def sign(self, name):
        """The files of a new certificate, which is good for this host, and of its key."""
        extensions = self.folder / f"{name}.ext"
        extensions.write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
        _openssl(self.folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                 "-nodes", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        _openssl(self.folder, "x509", "-req", "-in", f"{name}.csr", "-CA", f"{self.name}.crt",
                 "-CAkey", f"{self.name}.key", "-CAcreateserial", "-days", "2", "-extfile",
                 extensions, "-out", f"{name}.crt")
        return str(self.folder / f"{name}.crt"), str(self.folder / f"{name}.key")

    def server_options(self, port):
        """The certificate of keywayd."""
        cert, key = self.sign("server")
        return "--tls-port", str(port), "--tls-cert", cert, "--tls-key", key

    def lock_key(self, key):
        """The same key, with a password."""
        locked = key + ".locked"
        _openssl(self.folder, "ec", "-in", key, "-aes256", "-passout", "pass:secret", "-out",
                 locked)
        return locked


def authority_of(test):
    """Certificates in a folder that is removed after the test."""
    folder = tempfile.mkdtemp(prefix="keyway-certificates-")
    test.addCleanup(shutil.rmtree, folder, ignore_errors=True)
    return Authority(folder, "authority")
