import { execFileSync } from 'node:child_process';

/** Whether the openssl command line is there; tests that need it are skipped with this reason otherwise. */
export const hasOpenssl = ((): boolean => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

export const OPENSSL_MISSING = 'the openssl command line is not installed';

/** Runs openssl and answers what it printed. Throws with what it complained about. */
export function openssl(args: readonly string[], input: string | Uint8Array = ''): Buffer {
  return execFileSync('openssl', args, { input, stdio: ['pipe', 'pipe', 'pipe'] });
}
