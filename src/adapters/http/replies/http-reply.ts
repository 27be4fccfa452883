import type { Readable } from 'node:stream';
import type { AdminErrorCode } from './admin-error-codes.ts';
import type { ErrorCode } from './error-codes.ts';

interface ReplyHead {
  readonly status: number;
  /** A flat list of names and values, beside the headers that every reply has. */
  readonly headers?: readonly string[];
  /** The stable word in X-Error-Code of every reply that rejects a request. */
  readonly code?: ErrorCode | AdminErrorCode;
}

export interface JsonReply<Body = unknown> extends ReplyHead {
  readonly kind: 'json';
  readonly body: Body;
  /** The body as it is sent, where many replies share it. */
  readonly bytes?: Buffer;
}

/** A text in UTF-8. */
export interface TextReply extends ReplyHead {
  readonly kind: 'text';
  /** Its bytes where many replies share them. */
  readonly text: string | Buffer;
  /** Plain text when absent. */
  readonly mediaType?: string;
}

/** A page in UTF-8. */
export interface HtmlReply extends ReplyHead {
  readonly kind: 'html';
  readonly html: string;
}

/** A download. The server reads `content` as fast as the client does, and destroys it when the client leaves. */
export interface FileReply extends ReplyHead {
  readonly kind: 'file';
  readonly content: Readable;
  readonly mediaType: string;
  /** Characters other than letters, digits, dot, hyphen and underscore are sent as underscores. */
  readonly fileName: string;
}

/** What a handler replies with. */
export type HttpReply<Body = unknown> = JsonReply<Body> | TextReply | HtmlReply | FileReply;

/** The 200 of a route that replies with JSON. */
export function ok<Body>(body: Body, headers?: readonly string[]): JsonReply<Body> {
  return headers === undefined
    ? { kind: 'json', status: 200, body }
    : { kind: 'json', status: 200, body, headers };
}

/** The 200 of a route that replies with a text, plain unless a media type is given. */
export function text(content: string | Buffer, mediaType?: string): TextReply {
  return mediaType === undefined
    ? { kind: 'text', status: 200, text: content }
    : { kind: 'text', status: 200, text: content, mediaType };
}

/** The 200 of a route that replies with a page. */
export function html(page: string, headers?: readonly string[]): HtmlReply {
  return headers === undefined
    ? { kind: 'html', status: 200, html: page }
    : { kind: 'html', status: 200, html: page, headers };
}

/** The 200 of a route that replies with a download. */
export function file(content: Readable, mediaType: string, fileName: string): FileReply {
  return { kind: 'file', status: 200, content, mediaType, fileName };
}
