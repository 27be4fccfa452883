import { connect } from 'amqplib';
import { CONNECT_TIMEOUT_MS } from '../../../adapters/rabbitmq/open-channel.ts';
import type { QueueConfig } from '../../config/config.ts';
import { type Finding, reasonIn, well, wrong } from './finding.ts';

/** Connects to the broker and says goodbye; declares nothing. */
export async function examineBroker(queue: QueueConfig): Promise<readonly Finding[]> {
  if (queue.kind === 'memory') return [well('broker', 'none is configured, jobs wait in memory')];
  try {
    const connection = await connect(queue.url, { timeout: CONNECT_TIMEOUT_MS });
    await connection.close();
    return [well('broker', 'takes the connection')];
  } catch (error) {
    return [
      wrong('broker', reasonIn(error), 'check QUEUE_URL: host, user, password and virtual host of RabbitMQ'),
    ];
  }
}
