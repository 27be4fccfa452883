import { z } from 'zod';
import type { CheckHealth } from '../../../application/check-health.ts';
import { CHANNELS } from '../../../domain/shared/channel.ts';
import { messageBody } from '../replies/error-bodies.ts';
import { usualEnvelope } from '../replies/http-error.ts';
import { ok } from '../replies/http-reply.ts';
import { anyone } from '../routing/admission.ts';
import { SERVICE_TAG } from '../routing/documented.ts';
import { route } from '../routing/route.ts';
import type { RouteFamily } from '../routing/route-declaration.ts';

const alive = z
  .object({ status: z.literal('ok').meta({ description: 'The process replies' }) })
  .meta({ id: 'Liveness', description: 'The process replies' });

const dependency = z
  .object({
    name: z.string().meta({
      description: `\`database\`, \`queue\`, \`jobs\`, \`workers\`, or a channel: ${CHANNELS.map((name) => `\`${name}\``).join(', ')}; followed by the name of the provider when the channel has several`,
      examples: ['database'],
    }),
    ok: z.boolean().meta({ description: 'Whether it is well', examples: [true] }),
    critical: z
      .boolean()
      .meta({ description: 'Whether no request can be served without it', examples: [true] }),
    detail: z.string().meta({ description: 'Its state in words', examples: ['responds'] }),
  })
  .meta({ id: 'Dependency', description: 'Something that the service depends on' });

const ready = z
  .object({
    status: z
      .enum(['ready', 'not-ready'])
      .meta({ description: 'Whether every critical dependency is well', examples: ['ready'] }),
    dependencies: z.array(dependency).meta({ description: 'Every dependency with its state' }),
  })
  .meta({ id: 'Readiness', description: 'Whether the service can do its work' });

const running = z
  .object({
    version: z.string().meta({ description: 'Of the service', examples: ['1.0.0'] }),
    commit: z
      .string()
      .nullable()
      .meta({
        description: 'Of the sources that run; null when it is not known',
        examples: ['0123456789abcdef0123456789abcdef01234567'],
      }),
  })
  .meta({ id: 'Version', description: 'What runs here' });

const NOT_READY = { kind: 'json', status: 503, code: 'not-ready', headers: ['Retry-After', '1'] } as const;

export interface HealthParts {
  readonly checkHealth: Pick<CheckHealth, 'readiness'>;
  readonly build: { readonly version: string; readonly commit: string | null };
}

/** For machines that watch the service: `/healthz` touches nothing, `/readyz` asks every dependency. */
export function healthRoutes({ checkHealth, build: { version, commit } }: HealthParts): RouteFamily {
  const liveness = route({
    method: 'get',
    path: '/healthz',
    operationId: 'liveness',
    summary: 'Whether the process replies',
    description: 'It replies however busy the process is, and touches nothing.',
    admission: anyone,
    ok: { description: 'It does', schema: alive },
    // An orchestrator would restart a process that is merely busy.
    bypassesLoadShedding: true,
    handle: async () => ok({ status: 'ok' as const }),
  });

  const readiness = route({
    method: 'get',
    path: '/readyz',
    operationId: 'readiness',
    summary: 'Whether every critical dependency is well',
    description:
      'Asks every dependency. The reply is 503 when a critical one is away, when the database stores nothing, and when the process is stopping.',
    admission: anyone,
    ok: { description: 'They are', schema: ready },
    rejections: {
      503: {
        description: 'At least one is not, or too many requests are in flight',
        schema: z.union([ready, messageBody]),
        headers: ['Retry-After'],
      },
    },
    async handle() {
      const { ready: isReady, dependencies } = await checkHealth.readiness();
      const list = dependencies.map(({ name, ok: isOk, critical, detail }) => ({
        name,
        ok: isOk,
        critical,
        detail,
      }));
      if (isReady) return ok({ status: 'ready' as const, dependencies: list });
      return { ...NOT_READY, body: { status: 'not-ready' as const, dependencies: list } };
    },
  });

  const whichVersion = route({
    method: 'get',
    path: '/version',
    operationId: 'version',
    summary: 'Which version runs',
    description: 'The version of the service, and the commit of its sources where that is known.',
    admission: anyone,
    ok: { description: 'What runs here', schema: running },
    handle: async () => ok({ version, commit }),
  });

  return { tag: SERVICE_TAG, envelope: usualEnvelope, routes: [liveness, readiness, whichVersion] };
}
