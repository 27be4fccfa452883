/** What a webhook tells of: a message that was sent, one that came in, or credit that became low. */
export const WEBHOOK_KINDS = ['delivery', 'inbound', 'credit'] as const;
export type WebhookKind = (typeof WEBHOOK_KINDS)[number];

/** What an ordering key names: a message that was sent, one that came in and has one event, or notices that their ids order. */
export type WebhookOrdering = 'message' | 'arrival' | 'notices';

/** What differs between the kinds. A new kind is named here, and by what makes its events. */
interface KindRules {
  /** How events are signed, repeated and counted: as specification 6.1 has it, or 6.2 for messages that came in. */
  readonly protocol: 'delivery' | 'inbound';
  readonly ordering: WebhookOrdering;
}

const RULES: Readonly<Record<WebhookKind, KindRules>> = {
  delivery: { protocol: 'delivery', ordering: 'message' },
  inbound: { protocol: 'inbound', ordering: 'arrival' },
  credit: { protocol: 'delivery', ordering: 'notices' },
};

/** Whether its events keep to specification 6.2. */
export function isInbound(kind: WebhookKind): boolean {
  return RULES[kind].protocol === 'inbound';
}

/** What the ordering keys of its events name. */
export function orderingOf(kind: WebhookKind): WebhookOrdering {
  return RULES[kind].ordering;
}
