import { millisecondsInSecond } from 'date-fns/constants';
import { z } from 'zod';
import type { InboundArrival } from '../../application/ports/provider-events.ts';
import { providerText } from '../../domain/shared/provider-text.ts';
import { cutText } from '../../domain/shared/storable-text.ts';
import type { InboundContent } from '../../domain/webhooks/inbound-event.ts';

/** A message of a customer, and the platform's id of the number it came in on. */
export interface WrittenMessage {
  readonly platformId: string;
  readonly arrival: Omit<InboundArrival, 'whatsappPhoneId'>;
}

/** The longest text or caption that whatsapp lets a customer write, and more; the rest of a longer one is cut off. */
export const INBOUND_TEXT_CHARACTERS_MAX = 65_536;

const id = z.string().regex(/^[\x21-\x7e]{1,255}$/);
const digits = z.string().regex(/^[0-9]{5,20}$/);
/** Names, titles and the like. */
const line = z.string().transform(providerText);
const prose = z.string().transform((text) => cutText(text, INBOUND_TEXT_CHARACTERS_MAX));

const message = z.object({
  id,
  type: z.string(),
  /** Seconds since 1970. */
  timestamp: z.string().regex(/^[0-9]{1,11}$/),
  /** Missing when the customer shows a user name in place of a number. */
  from: digits.optional(),
  from_user_id: id.optional().catch(undefined),
});

const contact = z.object({
  wa_id: digits.optional().catch(undefined),
  user_id: id.optional().catch(undefined),
  profile: z
    .object({ name: line.optional().catch(undefined), username: line.optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

const media = z
  .object({ id, mime_type: line.default(''), caption: prose.optional(), filename: line.optional() })
  .transform(({ id: mediaId, mime_type: mimeType, caption, filename }) => ({
    mediaId,
    mimeType,
    ...(caption === undefined ? {} : { caption }),
    ...(filename === undefined ? {} : { filename }),
  }));

const reply = z.object({ id: line, title: line });

const location = z
  .object({
    latitude: z.number().min(-90).max(90),
    longitude: z.number().min(-180).max(180),
    name: line.optional(),
    address: line.optional(),
  })
  .transform(({ latitude, longitude, name, address }) => ({
    latitude,
    longitude,
    ...(name === undefined ? {} : { name }),
    ...(address === undefined ? {} : { address }),
  }));

const UNSUPPORTED: InboundContent = { type: 'unsupported', content: {} };

/** The names of customers, by what a message names its sender with. Of two contacts of one customer the first counts. */
export class ContactNames {
  readonly #byNumber = new Map<string, string>();
  readonly #byUser = new Map<string, string>();

  /** A contact of a change, as it came. */
  add(given: unknown): void {
    const read = contact.safeParse(given);
    if (!read.success) return;
    const { wa_id: number, user_id: user, profile } = read.data;
    const name = profile?.name ?? profile?.username ?? '';
    if (number !== undefined && !this.#byNumber.has(number)) this.#byNumber.set(number, name);
    if (user !== undefined && !this.#byUser.has(user)) this.#byUser.set(user, name);
  }

  /** The name of who has the number, or else of the user; empty when none is known. */
  nameOf(number: string | undefined, user: string | undefined): string {
    return (number === undefined ? this.#byUser.get(user ?? '') : this.#byNumber.get(number)) ?? '';
  }
}

/** The arrival of a message, with the name that its contact has; null for what is no message. */
export function inboundMessage(
  given: unknown,
  names: ContactNames,
): Omit<InboundArrival, 'whatsappPhoneId'> | null {
  const read = message.safeParse(given);
  if (!read.success) return null;
  const content = contentOf(read.data.type, given as Readonly<Record<string, unknown>>);
  if (content === null) return null;
  const { id: messageId, timestamp, from, from_user_id: userId } = read.data;
  return {
    contact: { phoneNumber: from ?? '', name: names.nameOf(from, userId) },
    messageId,
    content,
    writtenAt: Number(timestamp) * millisecondsInSecond,
  };
}

/** Null when the content is not as its type says. */
function contentOf(type: string, given: Readonly<Record<string, unknown>>): InboundContent | null {
  switch (type) {
    case 'text': {
      const read = z.object({ body: prose }).safeParse(given.text);
      return read.success ? { type, content: { text: read.data.body } } : null;
    }
    case 'image':
    case 'video':
    case 'audio':
    case 'document':
    case 'sticker': {
      const read = media.safeParse(given[type]);
      return read.success ? { type, content: read.data } : null;
    }
    case 'location': {
      const read = location.safeParse(given.location);
      return read.success ? { type, content: read.data } : null;
    }
    case 'interactive':
      return interactiveOf(given.interactive);
    case 'button': {
      // The quick reply of a template; it has no payload when the template gave it none.
      const read = z.object({ payload: line.optional(), text: line }).safeParse(given.button);
      if (!read.success) return null;
      const { payload, text } = read.data;
      return { type: 'button_reply', content: { id: payload ?? text, title: text } };
    }
    default:
      return UNSUPPORTED;
  }
}

function interactiveOf(given: unknown): InboundContent | null {
  const read = z.object({ type: z.string() }).safeParse(given);
  if (!read.success) return null;
  const { type } = read.data;
  if (type !== 'button_reply' && type !== 'list_reply') return UNSUPPORTED;
  const content = reply.safeParse((given as Readonly<Record<string, unknown>>)[type]);
  return content.success ? { type, content: content.data } : null;
}
