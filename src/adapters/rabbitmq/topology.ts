import type { Channel, Options } from 'amqplib';

/** A message that the broker delivers this often without an acknowledgement goes to the dead letters. */
const DELIVERIES_MAX = 5;

/** Dead-letter messages that the broker keeps; the oldest go first, because the job's row still holds everything. */
const DEAD_LETTERS_MAX = 100_000;

/** Ends the name of the job queue. The broker rejects changed arguments, so a change needs a new number. */
const TOPOLOGY_VERSION = 'v1';

/** Where jobs live at the broker. Installations that share one differ in their prefix. */
export interface Topology {
  readonly exchange: string;
  readonly queue: string;
  readonly routingKey: string;
  readonly deadLetterExchange: string;
  readonly deadLetterQueue: string;
}

/** The names for an installation's prefix, for example `barid`. */
export function topologyOf(prefix: string): Topology {
  const jobs = `${prefix}.jobs.${TOPOLOGY_VERSION}`;
  return {
    exchange: jobs,
    queue: jobs,
    routingKey: 'job',
    deadLetterExchange: `${jobs}.dead`,
    deadLetterQueue: `${jobs}.dead`,
  };
}

/**
 * Creates what is missing: a durable exchange, a replicated queue, and the same pair for dead letters. May be
 * repeated; fails when something of that name was made with other arguments.
 */
export async function declareTopology(channel: Channel, topology: Topology): Promise<void> {
  const { exchange, queue, routingKey, deadLetterExchange, deadLetterQueue } = topology;
  await channel.assertExchange(deadLetterExchange, 'direct', { durable: true });
  await channel.assertQueue(deadLetterQueue, deadLetterQueueOptions());
  await channel.bindQueue(deadLetterQueue, deadLetterExchange, routingKey);
  await channel.assertExchange(exchange, 'direct', { durable: true });
  await channel.assertQueue(queue, jobQueueOptions(topology));
  await channel.bindQueue(queue, exchange, routingKey);
}

function jobQueueOptions(topology: Topology): Options.AssertQueue {
  return {
    durable: true,
    arguments: {
      'x-queue-type': 'quorum',
      // The broker counts redeliveries: the first delivery is not one of them.
      'x-delivery-limit': DELIVERIES_MAX - 1,
      'x-dead-letter-exchange': topology.deadLetterExchange,
      'x-dead-letter-routing-key': topology.routingKey,
    },
  };
}

function deadLetterQueueOptions(): Options.AssertQueue {
  return {
    durable: true,
    arguments: { 'x-queue-type': 'quorum', 'x-max-length': DEAD_LETTERS_MAX },
  };
}
