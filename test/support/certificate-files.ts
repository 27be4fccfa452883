import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withCertificateAuthority } from './certificates.ts';

const DAYS_VALID = 2;

/** Paths of a certificate for `localhost`, its key, and the authority that signed it. */
export interface CertificateFiles {
  readonly ca: string;
  readonly key: string;
  readonly cert: string;
}

/** Makes a certificate for `localhost` in the folder. */
export function writeCertificate(folder: string): CertificateFiles {
  const { ca, key, cert } = withCertificateAuthority((authority) => ({
    ca: authority.ca,
    ...authority.issue('localhost', DAYS_VALID),
  }));
  const write = (name: string, content: string): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  return { ca: write('ca.pem', ca), key: write('leaf.key', key), cert: write('leaf.pem', cert) };
}
