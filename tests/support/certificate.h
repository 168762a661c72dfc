// A key and a certificate that vouches for itself, as files that are gone with it.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include "tests/support/temporary_folder.h"

namespace keyway::test {

/// For a server with this name, valid for an hour.
class Identity {
 public:
  explicit Identity(const std::string& name) {
    cert_file = folder_.file("cert.pem");
    key_file = folder_.file("key.pem");
    write(name);
  }
  Identity(const Identity&) = delete;
  Identity& operator=(const Identity&) = delete;

  std::string cert_file;
  std::string key_file;

 private:
  void write(const std::string& name) const {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"),
                                                                  EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
    X509* x = certificate.get();
    X509_set_version(x, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
    X509_gmtime_adj(X509_getm_notBefore(x), -3600);
    X509_gmtime_adj(X509_getm_notAfter(x), 3600);
    X509_set_pubkey(x, key.get());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(x, X509_get_subject_name(x));
    const std::string names = "DNS:" + name;
    X509_EXTENSION* extension =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str());
    X509_add_ext(x, extension, -1);
    X509_EXTENSION_free(extension);
    if (X509_sign(x, key.get(), EVP_sha256()) == 0) throw std::runtime_error("cannot sign");
    std::FILE* out = std::fopen(cert_file.c_str(), "w");
    PEM_write_X509(out, x);
    std::fclose(out);
    out = std::fopen(key_file.c_str(), "w");
    PEM_write_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(out);
  }

  TemporaryFolder folder_;
};

}  // namespace keyway::test
