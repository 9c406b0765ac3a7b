/** What an approver sees of a request: one view, in three forms. The third is the view itself, as JSON. */
export { decisionCommands } from './document.ts';
export { type MarkdownOptions, toMarkdown } from './markdown.ts';
export { type TerminalOptions, toTerminal } from './terminal.ts';
export { type Binding, type RequestView, type ViewExtra, describeRequest } from './view.ts';
