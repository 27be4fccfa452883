import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { type Channel, type ChannelModel, connect } from 'amqplib';
import { RabbitJobQueue } from '../../src/adapters/rabbitmq/job-queue.ts';
import { type Topology, topologyOf } from '../../src/adapters/rabbitmq/topology.ts';
import { RecordingLogger } from './recording-logger.ts';
import { TcpProxy } from './tcp-proxy.ts';

export interface RabbitProcess {
  readonly queue: RabbitJobQueue;
  readonly proxy: TcpProxy;
  readonly logger: RecordingLogger;
}

export interface RabbitProcessOptions {
  readonly batchMax?: number;
  readonly readyMax?: number;
  /** Begins without a network. */
  readonly severed?: boolean;
}

const HAS_HEADERS = 8_192;
const FRAME_END = Buffer.from([0xce]);

/** Names of its own at a broker, any number of processes that use them, and a second way in for the test. */
export class RabbitWorld {
  readonly topology: Topology;
  readonly admin: Channel;
  readonly #url: string;
  readonly #prefix: string;
  readonly #model: ChannelModel;
  readonly #processes: RabbitProcess[] = [];

  private constructor(url: string, prefix: string, model: ChannelModel, admin: Channel) {
    this.#url = url;
    this.#prefix = prefix;
    this.#model = model;
    this.admin = admin;
    this.topology = topologyOf(prefix);
  }

  static async open(url: string): Promise<RabbitWorld> {
    const model = await connect(url);
    const admin = await model.createChannel();
    return new RabbitWorld(url, `test-${randomUUID()}`, model, admin);
  }

  async process(options: RabbitProcessOptions = {}): Promise<RabbitProcess> {
    const { severed = false, ...limits } = options;
    const { hostname, port } = new URL(this.#url);
    const proxy = await TcpProxy.open({ host: hostname, port: Number(port || '5672') });
    if (severed) proxy.sever();
    const logger = new RecordingLogger();
    const queue = new RabbitJobQueue({
      url: proxy.through(this.#url),
      prefix: this.#prefix,
      logger,
      ...limits,
    });
    const process = { queue, proxy, logger };
    this.#processes.push(process);
    return process;
  }

  /** Publishes a message with this table of headers, byte for byte: amqplib would not write every one. */
  publishWithHeaders(content: Buffer, headers: Buffer): void {
    const { exchange, routingKey } = this.topology;
    const { connection, ch } = this.admin as unknown as { connection: { stream: Socket }; ch: number };
    const publish = [uint(2, 60), uint(2, 40), uint(2, 0), short(exchange), short(routingKey), uint(1, 0)];
    const properties = [uint(2, 60), uint(2, 0), uint(8, content.length), uint(2, HAS_HEADERS)];
    connection.stream.write(
      Buffer.concat([
        frame(1, ch, publish),
        frame(2, ch, [...properties, uint(4, headers.length), headers]),
        frame(3, ch, [content]),
      ]),
    );
  }

  /** Resolves with the next message in the dead-letter queue. */
  async nextDeadLetter(): Promise<{ text: string; reason: string }> {
    return await new Promise((resolve, reject) => {
      const take = this.admin.consume(this.topology.deadLetterQueue, (message) => {
        if (message === null) return;
        this.admin.ack(message);
        this.admin.cancel(message.fields.consumerTag ?? '').catch(reject);
        const reason = String(message.properties.headers?.['x-first-death-reason']);
        resolve({ text: message.content.toString(), reason });
      });
      take.catch(reject);
    });
  }

  async dispose(): Promise<void> {
    for (const { queue, proxy } of this.#processes) {
      proxy.resume();
      await queue.close();
      await proxy.close();
    }
    const { queue, exchange, deadLetterQueue, deadLetterExchange } = this.topology;
    await this.admin.deleteQueue(queue);
    await this.admin.deleteQueue(deadLetterQueue);
    await this.admin.deleteExchange(exchange);
    await this.admin.deleteExchange(deadLetterExchange);
    await this.#model.close();
  }
}

/** A frame of AMQP 0-9-1. */
function frame(type: number, channel: number, parts: readonly Buffer[]): Buffer {
  const payload = Buffer.concat(parts);
  return Buffer.concat([uint(1, type), uint(2, channel), uint(4, payload.length), payload, FRAME_END]);
}

function uint(bytes: number, value: number): Buffer {
  const number = Buffer.alloc(bytes);
  number.writeUIntBE(value, Math.max(0, bytes - 6), Math.min(bytes, 6));
  return number;
}

function short(text: string): Buffer {
  return Buffer.concat([uint(1, text.length), Buffer.from(text)]);
}
