import { performance } from 'node:perf_hooks';
import { z } from 'zod';
import { nextRound } from '../../application/concurrency/next-round.ts';
import { RoundTime } from '../../application/concurrency/round-time.ts';
import type {
  CallbackContent,
  CallbackRequest,
  ProviderCallback,
} from '../../application/ports/provider-callback.ts';
import type {
  InboundArrival,
  ProviderEvent,
  SubmissionReceipt,
} from '../../application/ports/provider-events.ts';
import type { WhatsappDirectory } from '../../application/ports/whatsapp-directory.ts';
import { withMaskedReason } from '../../domain/providers/delivery-receipt.ts';
import { limitedJsonOf } from '../../domain/shared/json-text.ts';
import { reasonMask } from '../../domain/shared/secret-mask.ts';
import { equalDigests, type Hmac } from '../../domain/webhooks/signer.ts';
import { ContactNames, inboundMessage, type WrittenMessage } from './inbound-message.ts';
import { statusReceipt } from './status-receipt.ts';

interface CallbackOptions {
  readonly hmac: Hmac;
  readonly whatsappDirectory: WhatsappDirectory;
  /** Signs every callback. */
  readonly appSecret: string;
  /** What the operator typed in where Meta asks for the URL. */
  readonly verifyToken: string;
  /** Masked like the other two where Meta repeats it. */
  readonly accessToken: string;
}

/** The longest name or value of a challenge that is read. */
export const CHALLENGE_CHARACTERS_MAX = 512;

/**
 * Entries, changes, statuses and messages of one callback that are read, all together; Meta puts up to 1,000 together. As many
 * contacts are read beside them.
 */
export const CALLBACK_ITEMS_MAX = 10_000;
/** How long the callbacks of one provider are read in one round of the event loop, in milliseconds. */
const CALLBACK_READING_MS = 3;

const SIGNATURE_PATTERN = /^sha256=([0-9a-f]{64})$/i;
/** It is returned in our own reply, so nothing in it may be markup. */
const CHALLENGE_PATTERN = /^[\w.-]+$/;

const OBJECT = 'whatsapp_business_account';
const FIELD = 'messages';

const list = z.array(z.unknown());
const callback = z.object({ object: z.string(), entry: list });
const entry = z.object({ changes: list });
const change = z.object({ field: z.string(), value: z.unknown() });
const value = z.object({
  metadata: z.object({ phone_number_id: z.string().regex(/^[0-9]{1,32}$/) }),
  contacts: list.optional().catch(undefined),
  statuses: list.optional(),
  messages: list.optional(),
});

/** What one callback holds, before our ids of the numbers are known. */
interface Items {
  readonly receipts: SubmissionReceipt[];
  readonly written: WrittenMessage[];
  malformed: number;
  left: number;
  contactsLeft: number;
}

/** Reads the callbacks of Meta's Cloud API: the challenge at the set-up, statuses of our messages, and messages of customers. */
export class CloudApiCallback implements ProviderCallback {
  readonly #options: CallbackOptions;
  readonly #masked: (text: string) => string;
  readonly #roundTime = new RoundTime(
    () => CALLBACK_READING_MS,
    () => performance.now(),
  );

  constructor(options: CallbackOptions) {
    this.#options = options;
    this.#masked = reasonMask([options.accessToken, options.appSecret, options.verifyToken]);
  }

  async read(request: CallbackRequest): Promise<CallbackContent> {
    return request.method === 'GET' ? this.#challenge(request) : this.#events(request);
  }

  #challenge({ query }: CallbackRequest): CallbackContent {
    const given = query.get('hub.verify_token') ?? '';
    if (given.length > CHALLENGE_CHARACTERS_MAX) return { kind: 'forged' };
    // The digests are compared, because the texts may differ in their lengths.
    const { verifyToken } = this.#options;
    const isKnown = equalDigests(this.#digest(verifyToken, verifyToken), this.#digest(verifyToken, given));
    if (!isKnown || query.get('hub.mode') !== 'subscribe') return { kind: 'forged' };
    const text = query.get('hub.challenge') ?? '';
    if (text.length > CHALLENGE_CHARACTERS_MAX || !CHALLENGE_PATTERN.test(text)) {
      return { kind: 'unreadable', problem: 'hub.challenge is missing, too long or no plain text' };
    }
    return { kind: 'challenge', text };
  }

  async #events({ headers, body }: CallbackRequest): Promise<CallbackContent> {
    const header = headers['x-hub-signature-256'];
    const given = typeof header === 'string' ? SIGNATURE_PATTERN.exec(header)?.[1]?.toLowerCase() : undefined;
    const expected = this.#digest(this.#options.appSecret, body);
    if (given === undefined || !equalDigests(expected, given)) return { kind: 'forged' };
    const read = callback.safeParse(limitedJsonOf(body.toString('utf8')));
    if (!read.success) return { kind: 'unreadable', problem: 'The body is no callback of the Graph API' };
    if (read.data.object !== OBJECT) return { kind: 'events', events: [], malformed: 0 };
    const items: Items = {
      receipts: [],
      written: [],
      malformed: 0,
      left: CALLBACK_ITEMS_MAX,
      contactsLeft: CALLBACK_ITEMS_MAX,
    };
    await this.#readItems(read.data.entry, items, (each) => this.#readEntry(each, items));
    const events: readonly ProviderEvent[] = [
      ...items.receipts.map((receipt) => ({ kind: 'receipt', receipt }) as const),
      ...(await this.#arrivals(items.written)).map((arrival) => ({ kind: 'inbound', arrival }) as const),
    ];
    return { kind: 'events', events, malformed: items.malformed };
  }

  /** A message to a number of no project is nobody's. */
  async #arrivals(written: readonly WrittenMessage[]): Promise<readonly InboundArrival[]> {
    if (written.length === 0) return [];
    const platformIds = [...new Set(written.map(({ platformId }) => platformId))];
    const ids = await this.#options.whatsappDirectory.phoneIdsOf(platformIds);
    return written.flatMap(({ platformId, arrival }) => {
      const whatsappPhoneId = ids.get(platformId);
      return whatsappPhoneId === undefined ? [] : [{ whatsappPhoneId, ...arrival }];
    });
  }

  async #readEntry(given: unknown, items: Items): Promise<boolean> {
    const read = entry.safeParse(given);
    if (read.success)
      await this.#readItems(read.data.changes, items, (each) => this.#readChange(each, items));
    return read.success;
  }

  /** Other fields than messages, such as reviews of templates, are not for us. */
  async #readChange(given: unknown, items: Items): Promise<boolean> {
    const read = change.safeParse(given);
    if (read.success && read.data.field !== FIELD) return true;
    const content = read.success ? value.safeParse(read.data.value) : read;
    if (!content.success || !('metadata' in content.data)) return false;
    const { metadata, contacts = [], statuses = [], messages = [] } = content.data;
    await this.#readItems(statuses, items, (status) => {
      const found = statusReceipt(status);
      if (found === null || found === 'ignored') return found !== null;
      items.receipts.push({ ...found, receipt: withMaskedReason(found.receipt, this.#masked) });
      return true;
    });
    const known = messages.length === 0 ? [] : contacts.slice(0, items.contactsLeft);
    items.contactsLeft -= known.length;
    const names = new ContactNames();
    await this.#inRounds(known, (contact) => names.add(contact));
    await this.#readItems(messages, items, (message) => {
      const arrival = inboundMessage(message, names);
      if (arrival !== null) items.written.push({ platformId: metadata.phone_number_id, arrival });
      return arrival !== null;
    });
    return true;
  }

  /** Items beyond the limit count as malformed: they are not read, and the operator is told. */
  async #readItems(
    given: readonly unknown[],
    items: Items,
    isRead: (item: unknown) => boolean | Promise<boolean>,
  ): Promise<void> {
    const read = given.slice(0, items.left);
    items.left -= read.length;
    items.malformed += given.length - read.length;
    await this.#inRounds(read, async (item) => {
      if (!(await isRead(item))) items.malformed += 1;
    });
  }

  /** Each takes time, and a callback has thousands: other work is done in between. */
  async #inRounds(given: readonly unknown[], read: (item: unknown) => void | Promise<void>): Promise<void> {
    for (const item of given) {
      while (!this.#roundTime.isLeft()) await nextRound();
      await read(item);
    }
  }

  #digest(key: string, content: string | Uint8Array): string {
    return this.#options.hmac({ text: key, encoding: 'utf8' }, [content], 'hex');
  }
}
