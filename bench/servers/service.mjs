import { SystemClock } from '../../dist/adapters/node/system-clock.js';
import { PinoLogger } from '../../dist/adapters/pino/pino-logger.js';
import { readConfig } from '../../dist/bootstrap/config.js';
import { readSeed } from '../../dist/bootstrap/seed-file.js';
import { Service } from '../../dist/bootstrap/service.js';
import { adapters, ports } from '../../dist/bootstrap/tokens.js';
import { serve } from '../child.mjs';
import { benchSeed } from '../seed.mjs';

/** The real service as configured by the environment, with one rich project. */
const config = readConfig(process.env);
const clock = new SystemClock();
const service = new Service({
  role: config.role,
  database: config.database,
  queue: config.queue,
  secretKey: Buffer.alloc(32, 7),
  clock,
  logger: new PinoLogger({ level: 'error' }),
  watchesClock: true,
  seed: readSeed(benchSeed()),
});
await service.start();
const port = config.role === 'worker' ? 0 : await service.listen(0, '127.0.0.1');
const { knex } = service.container.get(adapters.database);

const questions = {
  memoryMb: () => Math.round(process.memoryUsage.rss() / 2 ** 20),
  finalMessages: async () =>
    Number(
      (
        await knex('messages')
          .where('is_final', config.database.kind === 'sqlite' ? 1 : true)
          .count({ n: '*' })
      )[0].n,
    ),
  messages: async () => Number((await knex('messages').count({ n: '*' }))[0].n),
  /** Stores that many messages that were delivered long ago. */
  fill: async (count) => {
    const { projects } = readSeed(benchSeed());
    const unitOfWork = service.container.get(ports.unitOfWork);
    const long = clock.now() - 30 * 24 * 3_600_000;
    for (let from = 0; from < count; from += 1000) {
      await unitOfWork.run((stores) =>
        stores.messages.insert(
          Array.from({ length: Math.min(1000, count - from) }, (_, index) =>
            storedMessage(projects[0].project.id, long + from + index),
          ),
        ),
      );
    }
    return count;
  },
};
serve(port, questions);
process.on('SIGTERM', () => service.stop().then(() => process.disconnect()));

function storedMessage(projectId, createdAt) {
  const random = () =>
    Math.floor(Math.random() * 2 ** 24)
      .toString(16)
      .padStart(6, '0');
  return {
    smsId: `sms-${createdAt.toString(16).padStart(12, '0')}${random()}${random()}`,
    projectId,
    phoneNumber: `9647${100_000_000 + Math.floor(Math.random() * 900_000_000)}`,
    senderId: null,
    whatsappSender: { accountId: null, phoneId: null, templateName: null },
    content: { smsType: 'verification', verificationCode: '******' },
    channels: ['sms'],
    steps: [
      {
        channel: 'sms',
        state: 'delivered',
        reason: null,
        reference: 'stored',
        startedAt: createdAt,
        endedAt: createdAt,
      },
    ],
    status: 'delivered',
    isFinal: true,
    cost: 80_000,
    prices: { sms: 80_000 },
    settlement: 'quoted',
    stepTimeoutMs: 30_000,
    deliveryReport: null,
    createdAt,
    sentAt: createdAt,
    finalAt: createdAt,
    errorReason: null,
  };
}
