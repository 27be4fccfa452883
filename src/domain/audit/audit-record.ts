import type { Actor } from '../shared/actor.ts';

/** What an operator can change. */
export const AUDIT_ACTIONS = [
  'project-created',
  'project-changed',
  'project-archived',
  'key-created',
  'key-revoked',
  'key-rotated',
  'credit-added',
  'credit-corrected',
  'threshold-reset',
  'sender-id-requested',
  'sender-id-approved',
  'sender-id-rejected',
  'sender-id-priced',
  'inbound-webhook-created',
  'inbound-webhook-changed',
  'inbound-webhook-removed',
  'inbound-secret-rotated',
  'whatsapp-resources-changed',
  'report-deleted',
  'database-restored',
  'jobs-redriven',
  'jobs-dropped',
  'webhook-resent',
  'webhooks-resent',
  'circuit-closed',
  'prices-imported',
  'prices-withdrawn',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** The fields of a change, as JSON can carry them. Never a key, a secret or a phone number. */
export type AuditedFields = Readonly<Record<string, unknown>>;

/** One change of an operator. It is written in the transaction of the change, and is never changed itself. */
export interface AuditRecord {
  /** 24 hex characters that grow with time. Ledger entries of the same change have it as their reference. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly actor: Actor;
  readonly action: AuditAction;
  readonly projectId: string | null;
  /** The changed fields before; null when there was nothing. */
  readonly before: AuditedFields | null;
  readonly after: AuditedFields | null;
}

/** Both sides of a change, without the fields that are equal on both. */
export function changedFields(
  before: AuditedFields,
  after: AuditedFields,
): { readonly before: AuditedFields; readonly after: AuditedFields } {
  const names = Object.keys(after).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  return { before: picked(before, names), after: picked(after, names) };
}

function picked(fields: AuditedFields, names: readonly string[]): AuditedFields {
  return Object.fromEntries(names.map((name) => [name, fields[name]]));
}
