import { describe, expect, it } from 'vitest';
import { responseStart, withoutSecret } from '../../../src/domain/webhooks/response-start.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('the start of a response', () => {
  it('a response is stored up to its first 1,024 bytes', () => {
    expect(responseStart(bytes('x'.repeat(1_025)))).toBe('x'.repeat(1_024));
  });

  it('a response keeps lines, tabs and every script, and no other control character', () => {
    expect(responseStart(bytes('a\n\tب✅\u0000\u0007\rz'))).toBe('a\n\tب✅   z');
  });

  it('a response that is no UTF-8 has a replacement for each wrong byte', () => {
    expect(responseStart(Uint8Array.of(0x61, 0xff, 0x62))).toBe('a\ufffdb');
  });

  it('a response that echoes the secret has a mask in its place', () => {
    expect(withoutSecret('{"secret":"s3cret-1","again":"s3cret-1"}', 's3cret-1')).toBe(
      '{"secret":"***","again":"***"}',
    );
  });

  it('a response that echoes the secret percent-encoded or in JSON with escaped slashes has a mask in its place', () => {
    expect(withoutSecret('a=whsec_a%2Fb%2Bc%3D&b=whsec_a%2fb%2bc%3d', 'whsec_a/b+c=')).toBe('a=***&b=***');
    expect(withoutSecret('{"secret":"whsec_a\\/b+c="}', 'whsec_a/b+c=')).toBe('{"secret":"***"}');
    expect(withoutSecret('a=whsec_a%2Fb%2', 'whsec_a/b+c=')).toBe('a=***');
  });

  it('a response that was cut within the secret has a mask at its end', () => {
    expect(withoutSecret('secret: s3cre', 's3cret-1')).toBe('secret: ***');
    expect(withoutSecret('it ends with s3cr', 's3cret-1')).toBe('it ends with ***');
    expect(withoutSecret('it ends with s3c', 's3cret-1')).toBe('it ends with s3c');
  });
});
