import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What runs here: nothing of it is secret. */
export interface BuildVersion {
  readonly version: string;
  /** The commit of the sources; null when it is not known, as in an installed package. */
  readonly commit: string | null;
}

const COMMIT = /^[0-9a-f]{40}$/;
const REFERENCE = /^ref: (?<path>refs\/[\w./-]+)$/;

/**
 * The version of the package that has this file, and the commit that is checked out beside it. `folder` is where the search
 * begins.
 */
export function readBuildVersion(folder: string = import.meta.dirname): BuildVersion {
  const root = rootAbove(folder);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return { version, commit: commitIn(join(root, '.git')) };
}

/** The sources, a build and an installed package have the package.json at different heights. */
function rootAbove(folder: string): string {
  if (existsSync(join(folder, 'package.json')) || dirname(folder) === folder) return folder;
  return rootAbove(dirname(folder));
}

function commitIn(git: string): string | null {
  const head = textOf(join(git, 'HEAD'));
  const { path } = REFERENCE.exec(head)?.groups ?? {};
  const commit = path === undefined ? head : textOf(join(git, path));
  return COMMIT.test(commit) ? commit : null;
}

/** Empty when the file cannot be read. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
