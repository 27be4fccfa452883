import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openssl } from './openssl.ts';

export interface KeyPair {
  readonly key: string;
  readonly cert: string;
}

/** A certificate authority for one test file, and what it signed. Needs the openssl command line. */
export interface CertificateAuthority {
  readonly ca: string;
  /** A certificate for a host name or an IP address, valid from now for some days; a negative number has it expired already. */
  issue(hostname: string, days: number, kind?: 'ec' | 'rsa'): KeyPair;
  /** A certificate for a host name that only vouches for itself. */
  selfSigned(hostname: string): KeyPair;
}

const NEW_KEYS = {
  ec: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
  rsa: ['-newkey', 'rsa:2048', '-nodes'],
};

/** Makes the keys in a directory of its own, and removes it before it returns. */
export function withCertificateAuthority<T>(use: (authority: CertificateAuthority) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'));
  const path = (name: string): string => join(folder, name);
  const read = (name: string): string => readFileSync(path(name), 'utf8');
  const selfSigned = (name: string, subject: string, extension: string): void => {
    const names = ['-subj', `/CN=${subject}`, '-addext', extension];
    const files = ['-keyout', path(`${name}.key`), '-out', path(`${name}.pem`)];
    openssl(['req', '-x509', ...NEW_KEYS.ec, '-days', '2', ...names, ...files]);
  };
  try {
    selfSigned('ca', 'Test authority', 'keyUsage=critical,keyCertSign');
    return use({
      ca: read('ca.pem'),
      issue: (hostname, days, kind = 'ec') => {
        writeFileSync(path('names'), `subjectAltName=${isIP(hostname) === 0 ? 'DNS' : 'IP'}:${hostname}\n`);
        const request = ['-subj', `/CN=${hostname}`, '-keyout', path('leaf.key'), '-out', path('leaf.csr')];
        openssl(['req', ...NEW_KEYS[kind], ...request]);
        const signer = ['-CA', path('ca.pem'), '-CAkey', path('ca.key'), '-set_serial', '1'];
        const leaf = ['-in', path('leaf.csr'), '-days', String(days), '-extfile', path('names')];
        openssl(['x509', '-req', ...signer, ...leaf, '-out', path('leaf.pem')]);
        return { key: read('leaf.key'), cert: read('leaf.pem') };
      },
      selfSigned: (hostname) => {
        selfSigned('self', hostname, `subjectAltName=DNS:${hostname}`);
        return { key: read('self.key'), cert: read('self.pem') };
      },
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * A chain of so many certificates that nobody trusts. Each is checked with an exponent as long as the modulus, which takes a
 * hundred times as long as with a usual one. Needs the openssl command line.
 */
export function costlyChain(certificates: number): KeyPair {
  const folder = mkdtempSync(join(tmpdir(), 'chain-'));
  const path = (name: string | number): string => join(folder, String(name));
  const exponent = (1n << 3_070n) + (1n << 100n) + 1n;
  try {
    const size = ['-pkeyopt', 'rsa_keygen_bits:3072', '-pkeyopt', `rsa_keygen_pubexp:${exponent}`];
    openssl(['genpkey', '-quiet', '-algorithm', 'RSA', ...size, '-out', path('key')]);
    for (let at = 0; at < certificates; at += 1) {
      const signer = at === 0 ? [] : ['-CA', path(at - 1), '-CAkey', path('key')];
      openssl([
        'req',
        '-x509',
        '-new',
        '-key',
        path('key'),
        '-subj',
        `/CN=${at}`,
        ...signer,
        '-out',
        path(at),
      ]);
    }
    const chain = Array.from({ length: certificates }, (_, at) => readFileSync(path(at), 'utf8'));
    return { key: readFileSync(path('key'), 'utf8'), cert: chain.reverse().join('') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
