import { ContainerModule } from 'inversify';
import { describe, expect, it, test } from 'vitest';
import { SystemClock } from '../../src/adapters/node/system-clock.ts';
import { AuthenticateProject } from '../../src/application/access/authenticate-project.ts';
import { readConfig } from '../../src/bootstrap/config/config.ts';
import { buildContainer } from '../../src/bootstrap/container.ts';
import { useCases } from '../../src/bootstrap/modules/use-cases.ts';
import { adapters, ports } from '../../src/bootstrap/tokens.ts';
import { RecordingLogger } from '../support/recording-logger.ts';

/** No server listens there: a connection attempt while the container is built would fail the test. */
const NOWHERE = '127.0.0.1:1';

/** A port that no use case needs, only the work loop; the service takes it from the roots. */
const OF_THE_WORK_LOOP: ReadonlySet<string> = new Set(['providerEvents']);

const DATABASES = ['sqlite::memory:', `postgres://user@${NOWHERE}/nothing`];
const QUEUES = ['', `amqp://user@${NOWHERE}`];

const profiles = DATABASES.flatMap((database) => QUEUES.map((queue) => [database, queue] as const));

function containerOf(database: string, queue: string, overrides: readonly ContainerModule[] = []) {
  const config = readConfig({ DATABASE_URL: database, QUEUE_URL: queue });
  const logger = new RecordingLogger();
  const container = buildContainer({
    ...config,
    secretKey: Buffer.alloc(32),
    clock: new SystemClock(),
    logger,
    overrides,
  });
  return { container, logger };
}

/** The tokens that the modules of use cases bind. */
function useCaseTokens() {
  const tokens: unknown[] = [];
  const { container } = containerOf('sqlite::memory:', '');
  const bind = (token: unknown) => {
    tokens.push(token);
    const syntax: unknown = new Proxy(() => syntax, { get: () => syntax });
    return syntax;
  };
  for (const each of useCases) each.load({ bind } as unknown as Parameters<typeof each.load>[0]);
  return { tokens, container };
}

describe.each(profiles)('on %s with the queue %j', (database, queue) => {
  it('resolves every port, adapter and use case without connecting', () => {
    const { container, logger } = containerOf(database, queue);
    for (const [name, token] of Object.entries({ ...ports, ...adapters })) {
      expect(container.get(token as never), name).toBeDefined();
    }
    const { tokens } = useCaseTokens();
    expect(tokens.length).toBeGreaterThanOrEqual(15);
    for (const token of tokens) expect(container.get(token as never)).toBeInstanceOf(token as never);
    expect(logger.entries).toEqual([]);
  });

  it('gives every caller the same instance', () => {
    const { container } = containerOf(database, queue);
    for (const token of [...Object.values(ports), AuthenticateProject]) {
      expect(container.get(token as never)).toBe(container.get(token as never));
    }
  });
});

describe('a forgotten binding', () => {
  test.each(Object.entries(ports))(
    'reports a forgotten binding of %s with its name and the class that needs it',
    (name, token) => {
      const forget = new ContainerModule(({ unbind }) => unbind(token as never));
      const { container } = containerOf('sqlite::memory:', '', [forget]);
      const { tokens } = useCaseTokens();
      const wanting = [
        ...tokens.map((useCase) => (useCase as { name: string }).name),
        ...[...Object.values(ports), ...Object.values(adapters)].map((port) => port.toString()),
      ];
      const reports = tokens.flatMap((useCase) => {
        try {
          container.get(useCase as never);
          return [];
        } catch (error) {
          return [String(error)];
        }
      });
      expect(reports.length > 0).toBe(!OF_THE_WORK_LOOP.has(name));
      for (const text of reports) {
        expect(text).toContain(token.toString());
        expect(wanting).toContain(/resolve bindings for "([^"]+)"/.exec(text)?.[1]);
      }
    },
  );
});
