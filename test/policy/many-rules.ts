/** A configuration with many rules, spread over all nine layers. */

const rule = (index: number): object => {
  const kinds = [
    { tool: 'group:fs', when: { path: { glob: `area-${index}/**/*.{ts,js}` } }, effect: 'ask' },
    { tool: 'write', when: { path: { under: `secrets/${index}` } }, effect: 'deny' },
    { tool: 'shell', when: { command: { glob: `tool-${index} *` } }, effect: 'deny' },
    { tool: 'shell', when: { command: { glob: `npm run task-${index}*` } }, effect: 'allow' },
    { tool: 'group:web', when: { url: { host: `*.example-${index}.com` } }, effect: 'allow' },
  ];
  return { name: `rule ${index}`, ...kinds[index % kinds.length] };
};

/** Settings for agent `coder` in channel `team`, conversation `room-1`, provider `anthropic`, below a main session: every section speaks. */
export function rulesOverAllLayers(count: number): object {
  let next = 0;
  const share = Math.ceil(count / 8);
  const section = () => ({
    deny: ['message'],
    rules: Array.from({ length: Math.min(share, count - next) }, () => rule(next++)),
  });
  return {
    profile: 'full',
    ...section(),
    knownHosts: ['localhost'],
    providers: { anthropic: { profile: 'full', ...section() } },
    agents: {
      coder: { profile: 'full', ...section(), providers: { anthropic: section() }, subAgents: section() },
    },
    channels: { team: section() },
    conversations: { 'room-1': section() },
    sandbox: section(),
    subAgents: { deny: ['message'] },
  };
}
