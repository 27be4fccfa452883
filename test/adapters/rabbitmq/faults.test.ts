import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodeJob } from '../../../src/adapters/rabbitmq/job-envelope.ts';
import { QueueBlocked } from '../../../src/application/errors/queue-blocked.ts';
import { Gate, JobCollector, leasedJob, leasedJobs } from '../../support/job-collector.ts';
import { RabbitWorld } from '../../support/rabbit-world.ts';

const rabbitUrl = process.env.TEST_RABBITMQ_URL ?? '';
const title = 'RabbitJobQueue under faults';

/** A frame of AMQP 0-9-1 about the connection, as a broker writes it. */
function connectionFrame(method: number, reason: string | null): Buffer {
  const text = reason === null ? [] : [reason.length, ...Buffer.from(reason)];
  const payload = [0, 10, 0, method, ...text];
  return Buffer.from([1, 0, 0, 0, 0, 0, payload.length, ...payload, 0xce]);
}
/** What a broker says that is short of memory or disk, to who publishes. */
const blocked = (reason: string) => connectionFrame(60, reason);
const UNBLOCKED = connectionFrame(61, null);

/** A list of lists of lists, as a broker takes it: the deepest is empty. */
function nestedHeaders(depth: number): Buffer {
  const lists = Array.from({ length: depth }, (_, n) => listOf((depth - 1 - n) * LIST_BYTES));
  return Buffer.concat([HEADER_NAME, ...lists]);
}
const HEADER_NAME = Buffer.from([1, ...Buffer.from('a')]);
const LIST_BYTES = 5;
function listOf(bytes: number): Buffer {
  const list = Buffer.from('A\0\0\0\0');
  list.writeUInt32BE(bytes, 1);
  return list;
}

describe.skipIf(rabbitUrl === '')(
  rabbitUrl === '' ? `${title} (skipped: TEST_RABBITMQ_URL is not set)` : title,
  () => {
    let world: RabbitWorld;

    beforeEach(async () => {
      world = await RabbitWorld.open(rabbitUrl);
    });
    afterEach(async () => {
      await world.dispose();
    });

    it('dead-letters a message after five deliveries', async () => {
      const collector = new JobCollector(() => {
        throw new Error('planted');
      });
      const { queue } = await world.process();
      await queue.consume(collector.handler);
      await queue.ready();
      await queue.publish([leasedJob(1)]);
      const dead = await world.nextDeadLetter();
      expect(dead).toEqual({ text: encodeJob(leasedJob(1)).toString(), reason: 'delivery_limit' });
      expect(collector.ids()).toEqual(Array(5).fill(leasedJob(1).id));
    });

    it('dead-letters messages that are no jobs at once, logs the first of many, and goes on', async () => {
      const collector = new JobCollector();
      const { queue, logger } = await world.process();
      await queue.consume(collector.handler);
      await queue.ready();
      const { exchange, routingKey } = world.topology;
      for (const text of ['not a job', 'nor this']) {
        world.admin.publish(exchange, routingKey, Buffer.from(text));
        const dead = await world.nextDeadLetter();
        expect(dead).toEqual({ text, reason: 'rejected' });
      }
      await queue.publish([leasedJob(1)]);
      await queue.idle();
      expect(collector.ids()).toEqual([leasedJob(1).id]);
      expect(logger.entries.filter(({ event }) => event === 'queue_message_invalid')).toEqual([
        { level: 'warn', event: 'queue_message_invalid', fields: { count: 1, bytes: 9 } },
      ]);
    });

    it('a message with deeply nested headers ends no connection, and its headers are not read', async () => {
      const headers = nestedHeaders(20_000);
      const collector = new JobCollector();
      const { queue, logger } = await world.process();
      await queue.consume(collector.handler);
      await queue.ready();
      world.publishWithHeaders(Buffer.from('no job'), headers);
      await logger.seen('queue_message_invalid');
      world.publishWithHeaders(encodeJob(leasedJob(1)), headers);
      await queue.publish([leasedJob(2)]);
      await collector.received([leasedJob(1), leasedJob(2)]);
      expect(logger.entries.filter(({ event }) => event === 'queue_disconnected')).toEqual([]);
    });

    it('starts without a broker and says why it is unavailable', async () => {
      const collector = new JobCollector();
      const { queue, proxy, logger } = await world.process({ severed: true });
      await queue.consume(collector.handler);
      await logger.seen('queue_disconnected');
      expect(queue.unavailableReason()).not.toBeNull();
      expect(await queue.availableCapacity()).toBe(0);
      await expect(queue.publish([leasedJob(1)])).rejects.toThrow('Not published');
      proxy.restore();
      await queue.ready();
      expect(queue.unavailableReason()).toBeNull();
      await queue.publish([leasedJob(1)]);
      await collector.received([leasedJob(1)]);
    });

    it('closes while the broker is away', async () => {
      const { queue, logger } = await world.process({ severed: true });
      await queue.consume(new JobCollector().handler);
      await logger.seen('queue_disconnected');
      const ready = queue.ready();
      const rejected = expect(ready).rejects.toThrow('closed');
      await queue.close();
      await rejected;
      expect(queue.unavailableReason()).toBe('closed');
    });

    it('connects again after its connections were broken', async () => {
      const collector = new JobCollector();
      const { queue, proxy, logger } = await world.process();
      await queue.consume(collector.handler);
      await queue.ready();
      for (const times of [1, 2, 3]) {
        proxy.cut();
        await logger.seen('queue_connected', 2 + 2 * times);
        await queue.publish([leasedJob(times)]);
        await collector.received([leasedJob(times)]);
      }
      expect(queue.unavailableReason()).toBeNull();
    });

    it('finishes a batch whose connection broke, and receives it again', async () => {
      const gate = new Gate();
      const collector = new JobCollector((_, call) => (call === 1 ? gate.opened : undefined));
      const { queue, proxy, logger } = await world.process();
      await queue.consume(collector.handler);
      await queue.ready();
      await queue.publish([leasedJob(1)]);
      await collector.called(1);
      proxy.cut();
      await logger.seen('queue_connected', 4);
      gate.open();
      await collector.called(2);
      await queue.publish([leasedJob(2)]);
      await collector.received([leasedJob(2)]);
      await queue.idle();
      expect(collector.ids()).toEqual([leasedJob(1).id, leasedJob(1).id, leasedJob(2).id]);
      expect(collector.busyMax).toBe(1);
      // Acknowledging the first delivery on the new channel would have made the broker close that too.
      expect(logger.count('queue_disconnected')).toBe(2);
    });

    it('rejects a publish whose connection broke, and publishes the jobs the second time', async () => {
      const collector = new JobCollector();
      const { queue, proxy, logger } = await world.process();
      await queue.ready();
      const jobs = leasedJobs(1, 5_000);
      proxy.pause();
      const rejected = expect(queue.publish(jobs)).rejects.toThrow('did not take');
      proxy.cut();
      await rejected;
      proxy.resume();
      await logger.seen('queue_connected', 2);
      await queue.publish(jobs);
      await queue.consume(collector.handler);
      await queue.ready();
      await collector.received(jobs);
    });

    it('rejects a publish as soon as the broker takes no more messages, and publishes once it does', async () => {
      const { queue, proxy } = await world.process();
      await queue.ready();
      proxy.pause();
      const rejected = expect(queue.publish([leasedJob(1)])).rejects.toThrow(QueueBlocked);
      proxy.inject(blocked('low on memory'));
      await rejected;
      expect(queue.unavailableReason()).toBe('The broker takes no messages: low on memory');
      expect(await queue.availableCapacity()).toBe(0);
      proxy.inject(UNBLOCKED);
      await expect.poll(() => queue.unavailableReason()).toBeNull();
      proxy.resume();
      await queue.publish([leasedJob(2)]);
    });

    it('subscribes again when the broker ends the subscription', async () => {
      const collector = new JobCollector();
      const { queue, logger } = await world.process();
      await queue.consume(collector.handler);
      await queue.ready();
      await world.admin.deleteQueue(world.topology.queue);
      await logger.seen('queue_cancelled');
      await expect.poll(() => isPublished(queue.publish([leasedJob(1)]))).toBe(true);
      await collector.received([leasedJob(1)]);
    });

    it('rejects a publish that no queue took, and declares the queue again', async () => {
      const { queue, logger } = await world.process();
      await queue.ready();
      await world.admin.deleteQueue(world.topology.queue);
      await expect(queue.publish(leasedJobs(1, 3))).rejects.toThrow('no queue');
      expect(logger.count('queue_returned')).toBe(1);
      await expect.poll(() => isPublished(queue.publish([leasedJob(4)]))).toBe(true);
    });

    it('connects again after the broker closed its channel', async () => {
      const { queue, logger } = await world.process();
      await queue.ready();
      await world.admin.deleteQueue(world.topology.queue);
      // Asking for the length of a queue that is gone makes the broker close the channel.
      expect(await queue.availableCapacity()).toBe(0);
      await logger.seen('queue_connected', 2);
      await queue.publish([leasedJob(1)]);
    });

    it('has no capacity while the broker stays silent', async () => {
      const { queue, proxy } = await world.process({ readyMax: 7 });
      await queue.ready();
      proxy.pause();
      expect(await queue.availableCapacity()).toBe(0);
      expect(queue.unavailableReason()).toBe('The broker does not respond');
      proxy.resume();
      await expect.poll(() => queue.availableCapacity()).toBe(7);
      expect(queue.unavailableReason()).toBeNull();
    });
  },
);

function isPublished(publishing: Promise<void>): Promise<boolean> {
  return publishing.then(
    () => true,
    () => false,
  );
}
