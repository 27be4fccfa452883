import { closeSync, openSync } from 'node:fs';

/** More than the program opens at a time while it is loaded, which is some 180 files. */
const NEEDED = 220;

/** Why the program cannot be loaded, or null: with too few files its loader fails anywhere, and never says why. */
export function openFilesProblem() {
  const opened = [];
  try {
    while (opened.length < NEEDED) opened.push(openSync(import.meta.filename));
    return null;
  } catch (error) {
    return `ulimit -n: the process may open too few files at a time (${error.code}); allow 1024, and one more for each connection`;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}
