import { execFileSync } from 'node:child_process';

/** The commit that is checked out, marked when the sources differ from it. */
export function commit(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  try {
    // `:/` is the top of the checkout.
    const isChanged = git('status', '--porcelain', '--', ':/src') !== '';
    return `${git('rev-parse', '--short=12', 'HEAD')}${isChanged ? ' with changes' : ''}`;
  } catch {
    return 'unknown';
  }
}
