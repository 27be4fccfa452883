import { connect } from 'amqplib';
import { topologyOf } from './topology.ts';

/** Removes an installation's queues and exchanges with everything in them; what is missing is fine. */
export async function deleteTopology(url: string, prefix: string): Promise<void> {
  const { exchange, queue, deadLetterExchange, deadLetterQueue } = topologyOf(prefix);
  const connection = await connect(url, { noDelay: true });
  try {
    const channel = await connection.createChannel();
    for (const name of [queue, deadLetterQueue]) await channel.deleteQueue(name);
    for (const name of [exchange, deadLetterExchange]) await channel.deleteExchange(name);
  } finally {
    await connection.close();
  }
}
