import { isIP } from 'node:net';
import { domainToUnicode } from 'node:url';
import { WEBHOOK_URL_CHARACTERS_MAX } from '../../../domain/webhooks/webhook-limits.ts';
import type { EgressRules } from './egress-rules.ts';

export const HTTPS_PORT = 443;

const HOST_CHARACTERS_MAX = 253;
/** Labels of 1 to 63 characters, and no dot at the end. */
const HOST_PATTERN = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
const FORBIDDEN_CHARACTERS = /[\s\u0000-\u001f\u007f-\u009f\\]/;
const AUTHORITY_PATTERN = /^https:\/\/([^/?#]+)/i;

/** Names of this machine, of its network, and of the services a cloud offers to its own machines. */
const LOCAL_NAME_PATTERN =
  /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|lan|svc|home\.arpa)$/;
const METADATA_NAMES: ReadonlySet<string> = new Set([
  'metadata.google.internal',
  'metadata.azure.com',
  'metadata.packet.net',
  'metadata.platformequinix.com',
  'instance-data.ec2.internal',
]);

/**
 * The url in the one form that everything later uses, without its fragment, or null when no request can ever
 * be sent to it: not HTTPS, a port that is not allowed, user info, a special address or name, or a spelling that
 * a parser would have to put right. Nothing is decided on the raw text but that spelling.
 */
export function parseWebhookUrl(text: string, rules: EgressRules, ports: ReadonlySet<number>): URL | null {
  if (text.length > WEBHOOK_URL_CHARACTERS_MAX || FORBIDDEN_CHARACTERS.test(text)) return null;
  const authority = AUTHORITY_PATTERN.exec(text)?.[1];
  const url = parse(text);
  if (authority === undefined || url === null || url.protocol !== 'https:') return null;
  if (url.username !== '' || url.password !== '' || !isSpelledOut(authority, url)) return null;
  if (!ports.has(portOf(url)) || !isAcceptableHost(url.hostname, rules)) return null;
  url.hash = '';
  return url.href.length > WEBHOOK_URL_CHARACTERS_MAX ? null : url;
}

/** The port a parsed https url is served at. */
function portOf(url: URL): number {
  return url.port === '' ? HTTPS_PORT : Number(url.port);
}

function parse(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

/**
 * Whether the host was written as the parser understood it, in ASCII or in the script of its name. Octal,
 * short, full-width, percent-encoded and doubled forms were not.
 */
function isSpelledOut(authority: string, url: URL): boolean {
  const written = authority.toLowerCase().normalize('NFC');
  const ports = url.port === '' ? ['', `:${HTTPS_PORT}`] : [`:${url.port}`];
  const hosts = [url.hostname, domainToUnicode(url.hostname)];
  return hosts.some((host) => host !== '' && ports.some((port) => written === `${host}${port}`));
}

function isAcceptableHost(hostname: string, rules: EgressRules): boolean {
  const literal = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  if (isIP(literal) !== 0) return rules.allows(literal);
  if (hostname.length > HOST_CHARACTERS_MAX || !HOST_PATTERN.test(hostname)) return false;
  // With networks of their own allowed, operators use the names they gave them; the address still decides.
  if (rules.hasExceptions) return true;
  return hostname.includes('.') && !LOCAL_NAME_PATTERN.test(hostname) && !METADATA_NAMES.has(hostname);
}
