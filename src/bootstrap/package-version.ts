import { existsSync, readFileSync } from 'node:fs';

/** The version in the nearest package.json above this file: sources, builds and the package have it at different depths. */
export function packageVersion(): string {
  let file = new URL('./package.json', import.meta.url);
  while (!existsSync(file)) {
    const above = new URL('../package.json', file);
    if (above.href === file.href) throw new Error('Barid finds no package.json above its program');
    file = above;
  }
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string };
  return version;
}
