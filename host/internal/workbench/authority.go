package workbench

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"time"
)

// authority certifies every host of a stage. Nobody else trusts it, and it ends with the stage.
type authority struct {
	key  *ecdsa.PrivateKey
	root *x509.Certificate
	pool *x509.CertPool
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make certificates for recorded answers: %w", err)
	}
	template := certificate("recorded answers")
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make certificates for recorded answers: %w", err)
	}
	root, err := x509.ParseCertificate(raw)
	if err != nil {
		return nil, fmt.Errorf("make certificates for recorded answers: %w", err)
	}
	a := &authority{key: key, root: root, pool: x509.NewCertPool()}
	a.pool.AddCert(root)
	return a, nil
}

func certificate(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
}

// certify makes a certificate for the host that a client names. A client that names none asked for an address, which
// the stage's resolver gave it.
func (a *authority) certify(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	template := certificate(hello.ServerName)
	template.KeyUsage, template.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	if hello.ServerName != "" {
		template.DNSNames = []string{hello.ServerName}
	} else {
		template.IPAddresses = []net.IP{net.IPv4(1, 1, 1, 1)}
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, a.root, a.key.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate for %s: %w", hello.ServerName, err)
	}
	return &tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: a.key}, nil
}
