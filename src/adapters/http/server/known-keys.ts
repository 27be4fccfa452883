import type { IncomingMessage } from 'node:http';
import { keepNewest } from '../../../application/keep-newest.ts';
import { apiKeyFromHeader } from '../routing/authorization.ts';
import { type ClientAddress, networkOf } from '../routing/client-address.ts';
import { type QueueKey, queueKeyFor } from './request-queues.ts';

/** The API keys by which projects are known before they are admitted; the one that was shown first is forgotten for one more. */
export const KNOWN_KEYS_MAX = 10_000;

/** The API keys of admitted requests, and the projects that they were admitted for. */
export class KnownKeys {
  readonly #clientAddress: ClientAddress;
  /** Projects by their keys. */
  readonly #known = new Map<string, string>();

  constructor(clientAddress: ClientAddress) {
    this.#clientAddress = clientAddress;
  }

  /** Notes that a request with the key was admitted for the project. */
  note(apiKey: string, projectId: string): void {
    if (this.#known.get(apiKey) === projectId) return;
    this.#known.set(apiKey, projectId);
    keepNewest(this.#known, KNOWN_KEYS_MAX);
  }

  /**
   * Whom a request waits with before it is admitted: its project is known by a key that was admitted before. One that has been
   * revoked since is known still, and is rejected as soon.
   */
  queueKeyOf(request: IncomingMessage): QueueKey {
    const apiKey = apiKeyFromHeader(request.headers.authorization);
    const projectId = apiKey === null ? undefined : this.#known.get(apiKey);
    return queueKeyFor(projectId ?? null, networkOf(this.#clientAddress(request)));
  }
}
