# syntax=docker/dockerfile:1
FROM node:22-bookworm-slim AS build
WORKDIR /barid
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3 make g++ \
    && rm -rf /var/lib/apt/lists/*
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.bench.json ./
COPY scripts ./scripts
COPY src ./src
RUN node scripts/build.mjs --copy && npm prune --omit=dev --no-audit --no-fund

FROM node:22-bookworm-slim
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    DATABASE_URL=sqlite:/data/barid.db
WORKDIR /barid
COPY --from=build /barid/package.json ./
COPY --from=build /barid/node_modules ./node_modules
COPY --from=build /barid/scripts ./scripts
COPY --from=build /barid/dist ./dist
RUN mkdir --mode=0700 /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# No shell in between: SIGTERM reaches node, which stops in order.
ENTRYPOINT ["node", "--v8-pool-size=1", "scripts/barid.mjs"]
CMD ["start"]
