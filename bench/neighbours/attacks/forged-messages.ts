import { setTimeout as sleep } from 'node:timers/promises';
import amqplib from 'amqplib';
import { topologyOf } from '../../../src/adapters/rabbitmq/topology.ts';
import type { Target } from './target.ts';

/** The prefix that an installation has unless it is configured. */
const QUEUE_PREFIX = 'barid';

/** As the service writes them, of jobs that it never had. PostgreSQL stores no text with a NUL. */
const FORGED = [
  {
    id: 'l\u00000/start/0',
    work: { kind: 'start-attempt', smsId: 'l\u00000', attemptNumber: 0 },
  },
  {
    id: 'l\u00000',
    work: { kind: 'attempt-deadline', smsId: 'sms-000000000000000000000000', attemptNumber: 0 },
  },
  {
    id: 'webhooks/l/h\u00000',
    work: { kind: 'deliver-webhooks', projectId: 'l', endpoint: 'h\u00000' },
  },
  {
    id: 'sms-000000000000000000000000/start/0',
    work: { kind: 'start-attempt', smsId: 'sms-000000000000000000000000', attemptNumber: 0 },
  },
];

/** Publishes one forged message of each form, and waits; resolves with their number. */
export async function forgeMessages({ queueUrl, seconds }: Target): Promise<number> {
  const connection = await amqplib.connect(queueUrl);
  const channel = await connection.createConfirmChannel();
  const { exchange, routingKey } = topologyOf(QUEUE_PREFIX);
  for (const job of FORGED) {
    const content = JSON.stringify({ v: 1, fencingToken: 1, ...job });
    channel.publish(exchange, routingKey, Buffer.from(content), { persistent: true });
  }
  await channel.waitForConfirms();
  await connection.close();
  await sleep(seconds * 1000);
  return FORGED.length;
}
