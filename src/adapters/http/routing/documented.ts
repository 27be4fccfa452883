import type { z } from 'zod';
import type { HttpError } from '../replies/http-error.ts';

/** A group of operations in the document. */
export interface Tag {
  readonly name: string;
  readonly description: string;
}

/** The tag of what the service tells about itself. */
export const SERVICE_TAG: Tag = {
  name: 'Service',
  description: 'Whether the service is well, and this description of it. These endpoints need no key.',
};

/** A reply in JSON, as the document describes it. */
export interface DocumentedJson<Body = unknown> {
  readonly description: string;
  readonly schema: z.ZodType<Body>;
  /** Names of headers beyond those every reply has. */
  readonly headers?: readonly string[];
}

/** A reply of another kind, as the document describes it. */
export interface DocumentedContent {
  readonly description: string;
  readonly kind: 'text' | 'html' | 'file';
  /** Of a file, or of a text that is not plain. */
  readonly mediaType?: string;
  readonly headers?: readonly string[];
}

export type DocumentedReply = DocumentedJson | DocumentedContent;

/** A status other than 200. Without a schema its body is that of the family's envelope. */
export interface DocumentedError {
  readonly description: string;
  readonly schema?: z.ZodType;
  /** Whose body is the example; without it that of the schema is. */
  readonly error?: HttpError;
  readonly headers?: readonly string[];
}

export interface DocumentedHeader {
  readonly name: string;
  readonly description: string;
  readonly example: string;
  readonly pattern: string;
}

/** A body that the handler reads itself, as `input.bytes`. */
export interface RawBody {
  readonly description: string;
  readonly mediaType: string;
}

/** A header of a webhook. */
export interface DocumentedWebhookHeader extends DocumentedHeader {
  readonly required: boolean;
}

/** A request that the service makes to the server of a customer, as the document describes it. */
export interface DocumentedWebhook {
  readonly name: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly headers: readonly DocumentedWebhookHeader[];
  readonly body: z.ZodType;
  /** Bodies by name: at least one. */
  readonly examples: Readonly<Record<string, unknown>>;
  /** What a response of the customer's server does, by status. */
  readonly responses: Readonly<Record<string, string>>;
}
