import { describe, expect, it, test } from 'vitest';
import { egressRules } from '../../../../src/adapters/egress/webhooks/egress-rules.ts';
import { parseWebhookUrl } from '../../../../src/adapters/egress/webhooks/webhook-url.ts';
import { specialUrls } from '../../../support/special-addresses.ts';
import { goodUrls } from './good-urls.ts';

const rules = egressRules([]);
const ports = new Set([443]);
const accept = (url: string): string | null => parseWebhookUrl(url, rules, ports)?.href ?? null;

describe('the corpus', () => {
  it('the corpus has at least 1,300 different special urls, and none is accepted', () => {
    const urls = specialUrls(443);
    expect(new Set(urls).size).toBeGreaterThanOrEqual(1_300);
    expect(urls.filter((url) => accept(url) !== null)).toEqual([]);
  });

  it('the corpus has 200 different good urls, and none is rejected', () => {
    const urls = goodUrls();
    expect(new Set(urls).size).toBe(200);
    expect(urls.filter((url) => accept(url) === null)).toEqual([]);
  });

  it('an accepted url is accepted again, unchanged', () => {
    const accepted = goodUrls().map(accept);
    expect(accepted.map((url) => accept(url ?? ''))).toEqual(accepted);
  });
});

describe('the parsed form', () => {
  test.each([
    ['https://Example.COM', 'https://example.com/'],
    ['HTTPS://example.com:443/hook', 'https://example.com/hook'],
    ['https://example.com/hook?a=1#part', 'https://example.com/hook?a=1'],
    ['https://example.com/a/../b/./c', 'https://example.com/b/c'],
    ['https://موقع.iq/رسالة', 'https://xn--4gbrim.iq/%D8%B1%D8%B3%D8%A7%D9%84%D8%A9'],
  ])('a url is parsed to its normal form: %s', (url, parsed) => {
    expect(accept(url)).toBe(parsed);
  });
});

describe('what an operator allows', () => {
  it('an operator can choose the allowed ports', () => {
    const more = new Set([443, 8443]);
    expect(parseWebhookUrl('https://example.com:8443/', rules, more)?.href).toBe('https://example.com:8443/');
    expect(parseWebhookUrl('https://example.com:8444/', rules, more)).toBeNull();
    expect(parseWebhookUrl('https://example.com/', rules, new Set([8443]))).toBeNull();
  });

  it('an operator can allow networks, and the names used in them', () => {
    const own = egressRules(['127.0.0.0/8']);
    const accepted = ['https://127.0.0.1/', 'https://localhost/', 'https://receiver/'];
    const rejected = ['https://127.1/', 'https://10.0.0.1/', 'https://[::1]/', 'http://localhost/'];
    expect(accepted.filter((url) => parseWebhookUrl(url, own, ports) === null)).toEqual([]);
    expect(rejected.filter((url) => parseWebhookUrl(url, own, ports) !== null)).toEqual([]);
  });
});
