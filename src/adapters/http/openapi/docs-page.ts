import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** A file of `swagger-ui-dist` that the page needs; no other one is served. */
export interface DocsFile {
  readonly name: string;
  readonly mediaType: string;
}

export const DOCS_STYLE: DocsFile = { name: 'swagger-ui.css', mediaType: 'text/css' };
export const DOCS_SCRIPT: DocsFile = { name: 'swagger-ui-bundle.js', mediaType: 'text/javascript' };

const START = `
const folder = location.pathname.endsWith('/') ? '../' : '';
SwaggerUIBundle({ url: folder + 'openapi.json', dom_id: '#docs', deepLinking: true, tryItOutEnabled: true });
`;

/**
 * The page. Its addresses are relative to `/docs`, so that it may stand under `/api` or behind a proxy under a path of its
 * own; `hasSlash` says that it was asked for as `/docs/`.
 */
export function docsPage(hasSlash: boolean): string {
  const folder = hasSlash ? '../docs' : 'docs';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Barid</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${folder}/${DOCS_STYLE.name}">
</head>
<body>
<div id="docs"></div>
<script src="${folder}/${DOCS_SCRIPT.name}"></script>
<script>${START}</script>
</body>
</html>
`;
}

/** The page runs its own two scripts only, and talks to its own host only. */
export const DOCS_POLICY = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${createHash('sha256').update(START).digest('base64')}'`,
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const { resolve } = createRequire(import.meta.url);
const files = new Map<string, Promise<Buffer>>();

/**
 * The content of a file of the page, read once and shared by all replies. `name` is that of a `DocsFile`. Rejects when it cannot
 * be read; the next reply reads it again.
 */
export function docsFile(name: string, read: (path: string) => Promise<Buffer> = readFile): Promise<Buffer> {
  const known = files.get(name);
  if (known !== undefined) return known;
  const reading = read(pathOf(name));
  files.set(name, reading);
  reading.catch(() => files.delete(name));
  return reading;
}

/** A build brings copies along: a program that installs the service needs no package of a page. */
function pathOf(name: string): string {
  const copy = fileURLToPath(new URL(`./swagger-ui/${name}`, import.meta.url));
  return existsSync(copy) ? copy : resolve(`swagger-ui-dist/${name}`);
}
