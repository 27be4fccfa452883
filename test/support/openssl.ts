import { execFileSync } from 'node:child_process';

/** Whether the openssl command line is installed; without it the tests that need it are skipped. */
export const hasOpenssl = ((): boolean => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

export const OPENSSL_MISSING = 'the openssl command line is not installed';

/** Runs openssl and returns its output. Throws with its error text. */
export function openssl(args: readonly string[], input: string | Uint8Array = ''): Buffer {
  return execFileSync('openssl', args, { input, stdio: ['pipe', 'pipe', 'pipe'] });
}
