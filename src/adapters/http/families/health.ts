import { z } from 'zod';
import type { CheckHealth } from '../../../application/check-health.ts';
import { anyone } from '../routing/admission.ts';
import { usualEnvelope } from '../routing/http-error.ts';
import { ok } from '../routing/http-reply.ts';
import { type RouteFamily, route } from '../routing/route.ts';

const alive = z.object({ status: z.literal('ok') });

const readinessFields = {
  dependencies: z.array(
    z.object({ name: z.string(), ok: z.boolean(), critical: z.boolean(), detail: z.string() }),
  ),
};
const ready = z.object({ status: z.enum(['ready', 'not-ready']), ...readinessFields });

const overloaded = z.object({ message: z.string() });

const NOT_READY = { kind: 'json', status: 503, code: 'not-ready', headers: ['Retry-After', '1'] } as const;

/** For machines that watch the service: `/healthz` touches nothing, `/readyz` asks every dependency. */
export function healthRoutes({ health }: { readonly health: Pick<CheckHealth, 'readiness'> }): RouteFamily {
  const liveness = route({
    method: 'get',
    path: '/healthz',
    operationId: 'liveness',
    summary: 'Whether the process replies',
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
    admission: anyone,
    ok: { description: 'They are', schema: ready },
    rejections: {
      503: {
        description: 'At least one is not, or too many requests are in flight',
        schema: z.union([ready, overloaded]),
        headers: ['Retry-After'],
      },
    },
    async handle() {
      const { ready: isReady, dependencies } = await health.readiness();
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

  return { envelope: usualEnvelope, routes: [liveness, readiness] };
}
