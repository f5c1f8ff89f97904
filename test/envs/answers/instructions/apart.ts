/**
 * Instructions found in public repositories after the rule was made, and looked at by nobody while it was: see
 * instructions.test.ts for what the rule found of them then, and finds now.
 */
import type { Wrapping } from "./tuned.ts";

export const apart: readonly Wrapping[] = [
  [
    "DeepSeek-R1, in a port",
    "math",
    "A conversation between User and Assistant. The user asks a question, and the Assistant solves it. The assistant first thinks about the reasoning process in the mind and then provides the user with the answer. The reasoning process and answer are enclosed within <think> </think> and <answer> </answer> tags, respectively, i.e., <think> reasoning process here </think><answer> answer here </answer>. Put your final answer within \\boxed{}. <｜User｜>@@<｜Assistant｜>",
  ],
  ["a trainer in Rust", "math", "@@\nPut your final answer inside <answer></answer> tags.\n"],
  ["verl, with tools", "math", "@@ Put your final answer in the format of `#### <answer>`."],
  [
    "GPQA by an agent",
    "qa",
    '@@\n\nProvide your reasoning and then conclude with your final answer in the format "Answer: X" where X is A, B, C, or D.',
  ],
  ["FOLIO", "qa", "@@ Return your final answer in JSON format."],
  [
    "DCPO, with confidence",
    "math",
    "@@\n\nPlease provide your reasoning, then output your final answer inside \\boxed{} and your confidence inside <conf>...</conf> tags (a float in [0,1]).\n\nExample:\n\\boxed{42}\n<conf>0.83</conf>\n",
  ],
  ["a search task", "math", "@@\nGive your final answer inside <answer></answer> tags, as that JSON array."],
  [
    "verifiers",
    "math",
    "Think step-by-step inside <think>...</think> tags. Then, give your final answer inside <answer>...</answer> XML tags.\n\n@@",
  ],
  [
    "an adapter, multiple choice",
    "qa",
    "@@\n\nThink step by step, then give the final answer as the option letter inside \\boxed{}.",
  ],
  ["an adapter, free", "math", "@@\n\nThink step by step, then give the final answer inside \\boxed{}."],
  [
    "an adapter, code",
    "code",
    "@@\n\nWrite the complete function. Put your final solution in a single ```python code block.",
  ],
  ["planning", "math", "@@\nNow, reason step by step and output the final answer inside \\boxed{YOUR_FINAL_ANSWER}."],
  ["with 'I don't know'", "qa", "@@ The answer should be 'Answer: ' followed by the letter of the correct answer."],
  ["DCASE", "qa", "@@ Respond with the letter of the correct answer (A, B, C, or D)."],
  ["a video model", "qa", "@@\nPlease answer directly with the letter of the correct answer."],
  ["ScienceQA", "qa", "@@\nAnswer with the letter of the correct choice (A, B, C, etc.) only."],
  ["MM-Lifelong", "qa", "@@\n\nAnswer with the letter of the correct option only (e.g., A, B, C, or D)."],
  [
    "VLM-R1",
    "math",
    "@@\nOutput the thinking process in <think> </think> and final answer in <answer> </answer> tags.\n",
  ],
  [
    "Claude's guide",
    "math",
    "@@\n\nPut your step-by-step thinking in <thinking> tags.\nPut your final answer in <answer> tags.",
  ],
  [
    "TinyZero, gsm8k",
    "math",
    "@@\nShow your work in <think> </think> tags and return the final numerical answer in <answer> </answer> tags.",
  ],
  [
    "TinyZero, a template",
    "math",
    "A conversation between User and Assistant. The user asks a question, and the Assistant solves it. The assistant first thinks briefly about the reasoning process in the mind and then provides the user with the answer.\nUser: @@\nShow your work in <think> </think> tags. And return the final answer in <answer> </answer> tags, for example <think> [Thoughts] </think> <answer> 1 </answer>\nAssistant: \n<think>",
  ],
  [
    "small models",
    "math",
    "@@\nWrap your final answer in <answer> tags.\nWrap your reasoning in <thinking> tags.\nDo not include any text outside these tags.",
  ],
  ["unit conversion", "math", "@@ Show your work and put the final answer in <answer></answer> tags."],
  [
    "MATH by CMU",
    "math",
    "Solve the following math problem efficiently and clearly.  The last line of your response should be of the following format: 'Therefore, the final answer is: $\\boxed{ANSWER}$. I hope it is correct' (without quotes) where ANSWER is just the final number or expression that solves the problem. Think step by step before answering.\n\n@@",
  ],
  [
    "simple-evals, AIME",
    "math",
    'Solve the following math problem step by step. The last line of your response should be of the form Answer: $ANSWER (without quotes) where $ANSWER is the answer to the problem.\n\n@@\n\nRemember to put your answer on its own line after "Answer:", and you do not need to use a \\boxed command.',
  ],
  [
    "MATH-500 in a port",
    "math",
    "Answer the following math question step by step, given in LaTeX\nformat, clearly and concisely, and present the final answer as \\boxed{x}.\n\n@@",
  ],
  [
    "Llama 3, with a system message",
    "math",
    "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nYou are a careful math solver. For the question, output ONLY the final answer as a non-negative integer, with no extra text.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n@@<|eot_id|><|start_header_id|>assistant<|end_header_id|>",
  ],
  ["finance", "math", "@@\nShow work step-by-step. Final answer in <answer>NUMBER</answer> (percent without % sign)."],
];
