import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HttpWorld } from '../http-world.ts';

let world: HttpWorld;
beforeEach(async () => {
  world = await new HttpWorld().open();
});
afterEach(() => world.close());

const page = (path: string) => world.call('GET', path, { keyless: true });

describe('GET /docs', () => {
  it.each(['/docs', '/docs/', '/api/docs'])('serves the page and each file it names at %s', async (path) => {
    const reply = await page(path);
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    const named = [...reply.text.matchAll(/(?:href|src)="(?!data:)([^"]+)"/g)].map(([, name]) => name ?? '');
    const paths = named.map((name) => new URL(name, `http://localhost${path}`).pathname);
    const types = ['text/css; charset=utf-8', 'text/javascript; charset=utf-8'];
    const folder = path.startsWith('/api') ? '/api' : '';
    expect(paths).toEqual([`${folder}/docs/swagger-ui.css`, `${folder}/docs/swagger-ui-bundle.js`]);
    for (const [index, each] of paths.entries()) {
      const file = await page(each);
      expect([file.status, file.headers['content-type']]).toEqual([200, types[index]]);
      expect(file.headers['x-content-type-options']).toBe('nosniff');
      expect(file.text.length).toBeGreaterThan(100_000);
    }
  });

  it('allows its own script, and nothing from another host', async () => {
    const { text, headers } = await page('/docs');
    const [, script = ''] = /<script>(.*)<\/script>/s.exec(text) ?? [];
    const hash = createHash('sha256').update(script).digest('base64');
    const policy = headers['content-security-policy'] ?? '';
    expect(policy).toContain(`script-src 'self' 'sha256-${hash}'`);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(text).not.toMatch(/https?:/);
  });

  it.each([
    '/docs/package.json',
    '/docs/index.html',
    '/docs/swagger-ui-bundle.js.map',
    '/docs/../package.json',
    '/docs/%2e%2e/package.json',
    '/docs/..%2fpackage.json',
    '/docs/swagger-ui.css%00',
  ])('serves no other file of the package or the disk: %s', async (path) => {
    expect((await page(path)).status).toBe(404);
  });
});
