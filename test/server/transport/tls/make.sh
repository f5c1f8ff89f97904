#!/bin/sh
# Makes the certificates beside this file: a CA, a server and a client that it signed, and a client of another CA.
# Good for a hundred years, so that the tests do not depend on the date.
set -eu
cd "$(dirname "$0")"
authority() { # name
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500 -subj "/CN=gradus test $1" \
    -keyout "$1.key" -out "$1.crt" -addext basicConstraints=critical,CA:TRUE
}
signed() { # name authority extension
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=gradus test $1" \
    -keyout "$1.key" -out "$1.csr"
  printf '%s\n' "$3" >"$1.ext"
  openssl x509 -req -in "$1.csr" -CA "$2.crt" -CAkey "$2.key" -CAcreateserial -days 36500 -extfile "$1.ext" -out "$1.crt"
}
authority ca
authority other-ca
signed server ca "subjectAltName=DNS:localhost,IP:127.0.0.1"
signed client ca "extendedKeyUsage=clientAuth"
signed stranger other-ca "extendedKeyUsage=clientAuth"
rm -f ./*.csr ./*.ext ./*.srl ca.key other-ca.key other-ca.crt
