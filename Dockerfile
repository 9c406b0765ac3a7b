# The countersign worker. Debian, since Temporal's native bridge is built for glibc.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY bin ./bin
COPY scripts ./scripts
COPY src ./src
RUN node scripts/build.ts && npm prune --omit=dev

FROM node:24.21.0-bookworm-slim
RUN apt-get update \
 && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
COPY bin ./bin
COPY temporal-server ./temporal-server
RUN ln -s /app/bin/countersign.mjs /usr/local/bin/countersign \
 && install --directory --owner=node --group=node --mode=0700 /var/lib/countersign \
 && install --directory --owner=node --group=node /workspaces

# Configuration and state; configuration is read from /var/lib/countersign/config.
ENV COUNTERSIGN_HOME=/var/lib/countersign NODE_ENV=production
VOLUME /var/lib/countersign
USER node
ENTRYPOINT ["node", "/app/bin/countersign.mjs"]
CMD ["start"]
