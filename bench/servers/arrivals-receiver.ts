import { serveReceiver } from '../../test/support/receiver-process.ts';

/** A customer's HTTPS server that notes when it first heard of each message. */
const arrivedAt: Record<string, number> = {};
const handlers = {
  /** In milliseconds since 1970, by smsId. */
  arrivedAt: (): Readonly<Record<string, number>> => arrivedAt,
};
export type ArrivalsReceiverHandlers = typeof handlers;

serveReceiver((body) => {
  const { smsId }: { smsId?: string } = body === '' ? {} : JSON.parse(body);
  if (smsId !== undefined) arrivedAt[smsId] ??= Date.now();
}, handlers);
