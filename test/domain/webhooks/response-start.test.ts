import { describe, expect, it } from 'vitest';
import { responseStart } from '../../../src/domain/webhooks/response-start.ts';

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
});
