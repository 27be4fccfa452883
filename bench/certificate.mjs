import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
const DAYS_VALID = '2';

/** Makes a certificate authority and a certificate for `localhost` in the folder; the paths of the three files. */
export function makeCertificate(folder) {
  const path = (name) => join(folder, name);
  const openssl = (...args) => execFileSync('openssl', args, { stdio: 'ignore' });
  openssl(
    ...['req', '-x509', ...NEW_KEY, '-days', DAYS_VALID, '-subj', '/CN=Bench authority'],
    ...['-addext', 'keyUsage=critical,keyCertSign', '-keyout', path('ca.key'), '-out', path('ca.pem')],
  );
  writeFileSync(path('names'), 'subjectAltName=DNS:localhost\n');
  openssl(
    ...['req', ...NEW_KEY, '-subj', '/CN=localhost', '-keyout', path('leaf.key'), '-out', path('leaf.csr')],
  );
  openssl(
    ...['x509', '-req', '-CA', path('ca.pem'), '-CAkey', path('ca.key'), '-set_serial', '1'],
    ...['-in', path('leaf.csr'), '-days', DAYS_VALID, '-extfile', path('names'), '-out', path('leaf.pem')],
  );
  return { ca: path('ca.pem'), key: path('leaf.key'), cert: path('leaf.pem') };
}
