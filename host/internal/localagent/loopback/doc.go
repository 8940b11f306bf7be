// Package loopback speaks to one model on this machine, in the words of OpenAI's chat completions. It promises that
// nothing leaves for another address than the one that was configured, whatever the endpoint answers, and that no more
// is read than was allowed.
//
// What is said, and what an answer means, is left to whoever asks.
package loopback
