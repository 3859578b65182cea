"""Every case of the public case log: what must hold, where it was seen, and what shows it.

K is a case of the log, F one of those that build or use agents.
One case is four kinds of lines: its number, group and statement; `src` (where it was seen in public,
or why there is nothing to link), `by` (a test, below tests/) and `but` (why it does not apply, what
it waits for, or `open: ` and what is still wrong, where its test is an expected failure).
"""
# ruff: noqa: E501

import re
from dataclasses import dataclass

GROUPS = {
    "A": "What was approved",
    "B": "Who approved",
    "C": "Command text",
    "D": "Webhook intake",
    "E": "GitHub's life-cycle and transport",
    "F": "What the approver sees",
    "G": "Canonical JSON",
    "H": "Time, agents, undo, wishes",
    "I": "Binding, further",
    "J": "Identity, further",
    "K": "States and order, further",
    "L": "Repository and platform, further",
    "M": "Agents and their frameworks",
}


@dataclass(frozen=True, slots=True)
class Case:
    """One case; `by` are pytest node ids, `but` is empty unless something remains to be said."""

    id: str
    group: str
    holds: str
    source: str
    by: tuple[str, ...]
    but: str


TEXT = """
K01 A A push between an approval and the moment it is read starts nothing
src github/branch-deploy#315, #373; tektoncd/operator#2997; dependabot-core#11223; boostsecurity.io "Bot-Delegated TOCTOU" 2025-11-12
by cases/test_binding.py::test_a_push_just_before_the_approval_is_seen_though_nobody_told_of_it
by system/test_main_job.py::test_a_push_to_the_branch_ends_it
K02 A A head that went away and came back revives no approval
src go-gitea/gitea#5997
by cases/test_binding.py::test_a_head_that_went_away_and_came_back_stays_refused
by checks/test_judge.py::test_verdict[head_moved: away and back again]
K03 A An approval of one plan starts no other
src runatlantis/atlantis#1508, #169
by cases/test_binding.py::test_an_approval_of_one_plan_is_none_of_another
by system/test_check_run_form.py::test_each_plan_of_a_page_is_decided_about_alone
K04 A A plan that was replaced or ended never runs
src runatlantis/atlantis#1122, #2390, #6605
by cases/test_binding.py::test_a_plan_that_was_replaced_never_runs_again
by proposals/test_lifecycle.py::test_nothing_leaves_an_end
K05 A What runs is the plan that was reviewed; a fresh plan that differs runs nothing and says what differs
src diggerhq/digger#553, #1082; pulumi/pulumi#16806, #4501
by system/test_main_job.py::test_drift_applies_nothing_and_says_what_changed
by proposals/test_plan.py::test_two_plans_drift_if_and_only_if_they_differ
K06 A The pinned digest is compared with a fresh plan, whatever digest the caller sends
src rocky-data/rocky#2040
by cases/test_binding.py::test_naming_the_pinned_digest_does_not_help_when_the_world_moved
K07 A A plan to create something runs once: the second finds the world changed
src hashicorp/terraform#24078; runatlantis/atlantis#1933
by cases/test_binding.py::test_of_two_equal_plans_the_second_finds_the_world_changed
K08 A A plan that never comes out the same is told to the agent before a person is asked
src pulumi/pulumi#11587, #11012; hashicorp/terraform#27827
by proposals/test_runner.py::test_a_plan_that_does_not_hold_still_names_where
by proposals/test_runner.py::test_what_is_declared_volatile_may_vary_and_is_kept_beside_the_plan
K09 A The tool gets the arguments of the pinned plan and no others
src extra-org/extra#139; langchain-ai/langgraph#7780
by cases/test_binding.py::test_the_tool_gets_exactly_the_pinned_plan
by webhook_app/test_command_toolkit.py::test_apply_is_given_the_plan_and_the_key_and_verify_the_result
K10 A What was spent stays spent, however much comes after it and over restarts
src vishalsachdev/canvas-mcp#258
by cases/test_binding.py::test_what_was_applied_stays_applied_once_over_restarts
by proposals/test_store.py::test_it_starts_once
K11 A A missing, an expired, a mismatched and a consumed token have four stable codes
src liqiongyu/agentpack#361; pipefy/ai-toolkit#629
by proposals/test_confirm.py::test_each_refusal_has_its_own_code
by proposals/test_confirm.py::test_whoever_asks_the_store_nothing_starts_unconfirmed
by system/test_confirm.py::test_over_mcp_it_is_the_reserved_argument
by proposals/test_confirm.py::test_a_used_token_starts_nothing_again
K12 A A tool that changed after its approval is another tool
src CVE-2025-54136 (MCPoison); Invariant Labs; practical-devsecops.com glossary
by cases/test_binding.py::test_a_tool_that_changed_since_is_not_the_tool_approved
by proposals/test_tools.py::test_a_tool_that_changes_after_approval_is_another_tool
K13 A What a server says of its own tool loosens no gate
src QwenLM/qwen-code#6924; TanStack/ai#1031; mastra#16784
by webhook_app/doors/mcp/test_listing.py::test_the_mark_of_destruction[its-server-cannot-loosen]
by webhook_app/doors/mcp/test_listing.py::test_a_read_whose_server_warns_is_not_called_read_only
K14 A A tool without hints counts as destructive, and the list says where its class comes from
src CoplayDev/unity-mcp#1304; DeusData/codebase-memory-mcp#2118
by webhook_app/doors/mcp/test_listing.py::test_the_mark_of_destruction
by system/test_gateway.py::test_any_other_name_is_denied[undeclared]
but `effect` has no default: what `placet.toml` does not declare is denied, whatever its hints say
K15 A Another base branch ends a proposal; an edited title or text is restored and voids what was said before
src rust-lang/homu#12; zalando/zappr#410; PriorLabs/TabPFN#1228
by system/test_main_job.py::test_a_retarget_ends_it
by system/test_main_job.py::test_an_edited_page_is_restored_and_approvals_before_are_void
K16 A No decision looks at the date of a commit
src github/branch-deploy#315; palantir/policy-bot#598
by cases/test_binding.py::test_no_fact_of_a_decision_is_the_date_of_a_commit
K17 B Only GitHub's 200 with enough access lets a person approve; 404 is no; everything else is not known
src airbyte-python-cdk#1097; python-sdk#3028; Kilo-Org/cloud#849
by webhook_app/github/test_facts.py::test_only_200_says_what_a_person_may_do
by webhook_app/github/test_facts.py::test_a_permission_that_takes_too_long_is_not_known
by checks/test_judge.py::test_verdict[access_unknown: no answer]
K18 B What a payload says of an author's role is not read
src Kilo-Org/cloud#849; tetherto/qvac#191; kurone-kito/idd-skill#144; microsoft/AzureTRE#1379, #1422
by cases/test_people.py::test_what_the_payload_says_of_an_authors_role_is_not_even_read
K19 B When permissions cannot be read nobody is refused and nothing runs
src channable/hoff#91
by cases/test_people.py::test_while_permissions_cannot_be_read_nobody_is_refused_and_nothing_runs
K20 B Whoever takes over a login is not the person meant
src dwf-request#25; gitterHQ/gitter#1670; bors-ng#770; QwenLM/qwen-code#7727
by system/test_explain.py::test_a_login_that_changed_hands_fills_nobodys_place
by cases/test_people.py::test_a_login_taken_over_since_takes_its_approval_away
K21 B Logins are the same in every case, and one that nobody has is shown
src alire#663; openvsx#1708; QwenLM/qwen-code#7727
by checks/test_judge.py::test_the_case_of_a_login_is_irrelevant
by system/test_explain.py::test_the_page_says_whom_github_does_not_know
K22 B A look-alike of a login, a team or a command is none
src measured: U+212A, U+017F
by checks/test_counting.py::test_no_look_alike_of_a_login_is_admitted
by checks/test_policy.py::test_what_cannot_be_a_name_is_refused
by checks/test_commands.py::test_anything_else_is_no_command[cyrillic-a]
K23 B Whoever pushed to the proposal's branch does not approve it, and the push ends it
src MicrosoftDocs/azure-devops-docs#1198
by checks/test_judge.py::test_verdict[contributor: pushed to the branch]
by system/test_main_job.py::test_a_push_to_the_branch_ends_it
K24 B A program that acts as a person through an App does not approve; the agent's own people never do
src claude-code#29984 (near case)
by cases/test_people.py::test_a_comment_by_a_persons_token_through_an_app_does_not_count
by checks/test_judge.py::test_verdict[requester: own people]
but a plain personal token cannot be told from its person; docs/security.md says so
K25 B The policy comes from the default branch, and a change of it never loosens what already waits
src runatlantis/atlantis#432; winglang/wing#3389; praetorian-inc/trajan#103
by cases/test_people.py::test_a_policy_in_the_pull_request_itself_has_no_say
by cases/test_people.py::test_a_policy_that_changed_while_it_waited_loosens_nothing
by webhook_app/github/test_facts.py::test_the_policy_is_the_one_of_todays_default_branch
K26 B An empty, unknown or broken policy lets nobody approve, visibly
src runatlantis/atlantis#4243
by checks/test_policy.py::test_a_policy_is_refused_and_the_place_is_named
by checks/test_judge.py::test_verdict_by_policy[policy_unreadable: one of three cannot be read]
K27 B The latest stance of each person counts; dismissed is gone; a comment changes nothing
src runatlantis/atlantis#934; openucx/ucx#8191
by cases/test_people.py::test_an_approval_taken_back_before_the_start_counts_no_more
by system/test_main_job.py::test_changes_requested_block_until_their_author_approves
K28 B A check of the same name by another App is nothing to us
src palantir/policy-bot#376; angular/dev-infra#3746, #3987; iterion#1589; aragora#7452
by webhook_app/test_deliveries.py::test_what_says_nothing[another-apps-run]
by checks/test_judge.py::test_verdict[other_head: a button]
K29 B A button asks the same questions as a comment; an odd press breaks nothing
src GitHub changelog 2018-05-23; GitHub's OpenAPI webhook-check-run-requested-action
by cases/test_people.py::test_a_reader_approves_on_no_surface
by cases/test_intake.py::test_whoever_cannot_be_named_says_nothing[no-button]
K30 B Re-running a check decides nothing and revives nothing
src github/rest-api-description#4765
by cases/test_people.py::test_running_a_check_again_decides_nothing
K31 B Who lost access between approval and start no longer counts
src design: no public report found
by cases/test_people.py::test_who_lost_access_since_no_longer_counts
K32 B GitHub's own idea of mergeable or approved is not an approval
src runatlantis/atlantis#2112, #5952, #4116, #2601; eltmon/overdeck#3946
by system/test_bad_weather.py::test_a_persons_merge_approves_nothing
by checks/test_judge.py::test_verdict[approvals_missing: merging is no approval]
K33 C A quoted command does nothing
src bors-ng#173; packit/packit-service#1025; vercel/eve#2175
by cases/test_commands.py::test_quoting_placets_own_words_starts_nothing
by checks/test_commands.py::test_anything_else_is_no_command[quoted-reply]
K34 C A command in code does nothing, and our own words are no command
src cncf/prow-github-actions#66; kubernetes-sigs/prow#432
by checks/test_commands.py::test_anything_else_is_no_command[fenced-code]
by cases/test_commands.py::test_no_answer_of_ours_is_a_command
K35 C The first line is the command; a trailer below it is free text
src runatlantis/atlantis#6643
by cases/test_commands.py::test_a_trailer_of_another_client_does_not_hide_the_command
K36 C Windows line ends work; nothing else ends a line
src slash-command-dispatch#32; fullsend#2137; github/gh-aw#61580; cncf/prow-github-actions#108
by checks/test_commands.py::test_the_first_line_is_a_command[crlf]
by checks/test_commands.py::test_anything_else_is_no_command[line-separator-ends-no-line]
K37 C Invisible and look-alike characters make no command
src measured: strip(), NFKC
by checks/test_commands.py::test_anything_else_is_no_command[full-width-slash]
by checks/test_commands.py::test_only_the_exact_grammar_approves
K38 C Words before, after or glued to a command make it none, and a near miss is answered
src fullsend#614; bors-ng#173; kubernetes/test-infra#1689
by checks/test_commands.py::test_anything_else_is_no_command[hyphenated]
by checks/test_commands.py::test_a_yes_that_is_no_command_gets_an_answer
K39 C One command a comment; yes and no together do nothing; further ones are ignored and the answer says so
src kubernetes/test-infra#1689; cncf/prow-github-actions#108
by cases/test_commands.py::test_approve_and_reject_in_one_comment_are_answered_and_do_nothing
by cases/test_commands.py::test_a_further_command_below_is_answered
K40 C The state of a review decides, never its words; comments on lines of code are not read
src ti-community-infra/tichi#248
by cases/test_commands.py::test_the_state_of_a_review_decides_and_its_words_do_not
by cases/test_commands.py::test_a_command_in_a_comment_on_a_line_of_code_is_not_read
K41 C A command on an issue, on another page or on a closed page approves nothing
src runatlantis/atlantis#1393; pipelines-as-code#1897, #1911
by cases/test_commands.py::test_a_command_elsewhere_approves_nothing
by cases/test_binding.py::test_another_pull_request_of_the_same_branch_is_another_page
by webhook_app/test_deliveries.py::test_what_says_nothing[an-issue-is-no-pull-request]
by system/test_main_job.py::test_closing_ends_it_and_reopening_revives_nothing
K42 D A delivery without a signature is refused
src krkn-chaos/krkn#1277
by webhook_app/test_webhook_door.py::test_a_wrong_signature_is_refused[missing]
K43 D An empty, short or unexpanded secret refuses the start
src librefang#3492; corsairdev/corsair#593, #830; stripe-ruby#1960
by webhook_app/test_settings.py::test_a_weak_webhook_secret_refuses_the_start
by webhook_app/test_webhook_door.py::test_a_wrong_signature_is_refused[empty-secret]
K44 D A SHA-1 signature alone is refused
src octokit/webhooks.js#1079
by webhook_app/test_webhook_door.py::test_a_wrong_signature_is_refused[older-algorithm]
K45 D Odd, short, doubled and non-ASCII signatures are 401, never 500
src CVE-2022-24912; SECURITY-2875 (Jenkins)
by webhook_app/test_webhook_door.py::test_a_wrong_signature_is_refused[not-ascii]
by webhook_app/test_webhook_door.py::test_two_signatures_are_refused
K46 D The signature is over the bytes as they came
src octokit/webhooks.js#71, #76, #593, #1155; github/docs#3567; AutoMaintainer#167
by webhook_app/test_webhook_door.py::test_the_signature_is_over_the_raw_bytes
K47 D A form is refused and told which setting to change
src octokit/webhooks.js#158; argo-cd#3802; traduttore#166
by webhook_app/test_webhook_door.py::test_what_is_signed_but_not_ours[form]
K48 D A body over the cap is refused before and while it is read
src CVE-2024-40634; GHSA-jcc8-g2q4-9fxq
by webhook_app/test_webhook_door.py::test_nothing_is_read_of_a_body_that_says_it_is_too_large
by webhook_app/test_webhook_door.py::test_a_body_without_a_length_is_counted_while_it_comes
K49 D A signed but malformed body is refused and the server lives; unknown events are kept and do nothing
src CVE-2025-59538; octokit/webhooks#300
by webhook_app/test_webhook_door.py::test_a_malformed_body_is_refused_and_the_server_lives
by webhook_app/test_webhook_door.py::test_odd_members_are_taken_and_kept
K50 D A delivery's id is used up only after it was authenticated and kept; a failed first try can be sent again
src ai-code-reviewer#677; cursor-boston#1374; ThrillhouseBot#80
by webhook_app/test_webhook_door.py::test_a_refused_delivery_does_not_use_up_its_guid
by system/test_bad_weather.py::test_a_lost_delivery_is_fetched_from_githubs_log
K51 D Deliveries may come in any order: the decision reads GitHub again
src google/go-github#2706; remind101/slashdeploy#97; github_exporter#312; lyft/atlantis#667
by cases/test_intake.py::test_a_no_that_overtakes_the_yes_before_it_stands
K52 D What was approved while the server was down is applied when it is back, under every condition
src bytedance/deer-flow#4274; dev.to/shannonllc; kodustech/kodus-ai#1838
by system/test_bad_weather.py::test_what_was_approved_while_the_server_was_down_is_applied_when_it_is_back
by webhook_app/test_missed.py::test_an_approval_that_never_arrived_is_fetched_and_counts
K53 D The previous secret counts until its stated end
src octokit/webhooks.js#770, #1080; mergify#4169; github-for-jira#2088; argos#2104
by webhook_app/test_webhook_door.py::test_the_previous_secret_counts_until_its_end[after-its-end]
by webhook_app/test_settings.py::test_what_refuses_the_start_says_what_to_do[rotation-without-end]
K54 D A delivery of another repository or account touches nothing here
src angular/dev-infra#3987
by cases/test_commands.py::test_a_command_elsewhere_approves_nothing
by proposals/test_store.py::test_a_delivery_leaves_alone_what_it_is_not_about[another-repository]
by webhook_app/test_webhook_door.py::test_an_account_that_is_not_listed_is_ignored
K55 E A suspended installation pauses its proposals and nobody else's
src codecov/shared#237, #334; renovate-ce-ee#391; ossf/allstar#314; repohistory#7
by cases/test_intake.py::test_a_suspended_installation_pauses_and_goes_on
by webhook_app/github/test_places.py::test_a_suspended_installation_does_not_stop_the_others
K56 E After an uninstall nothing runs
src design: no public report found
by cases/test_intake.py::test_after_an_uninstall_nothing_runs
K57 E No branch name is taken for granted
src waka-readme#34; CF-MR-Bot#53; obsidian-repos-downloader#15
by cases/test_people.py::test_a_renamed_default_branch_is_followed
but the base of a proposal is the ledger, so a renamed default branch is no change of it
K58 E A closed page or a deleted branch is the end; reopening and restoring revive nothing
src runatlantis/atlantis#5693, #1202, #1393
by cases/test_intake.py::test_a_deleted_and_restored_branch_revives_nothing
by cases/test_binding.py::test_what_comes_after_the_start_changes_neither_outcome_nor_receipt[closed]
by system/test_main_job.py::test_closing_ends_it_and_reopening_revives_nothing
K59 E Pressing Merge approves nothing
src design; cf. runatlantis/atlantis#6529
by system/test_bad_weather.py::test_a_persons_merge_approves_nothing
K60 E There is no page to approve before the plan is pinned, and no success without a run
src runatlantis/atlantis#6529, #773, #2067
by proposals/test_lifecycle.py::test_applied_means_started_once
by proposals/test_answer.py::test_nothing_but_an_applied_proposal_is_called_done
K61 E A refused merge is a finding and never a second run
src airbyte#38754; bazelbuild/continuous-integration#2178; pifpaf#180; nixpkgs-merge-bot#179
by webhook_app/github/test_settle.py::test_a_merge_that_meets_another_write_to_the_ledger_is_tried_later
by cases/test_binding.py::test_what_comes_after_the_start_changes_neither_outcome_nor_receipt[a-push]
by system/test_bad_weather.py::test_whatever_fails_while_telling_it_is_applied_and_told_once
K62 E A token that is no longer taken is made again once
src squads-cli#1133; create-github-app-token#121; manual-approval#42; buildbuddy#5744
by webhook_app/github/test_client.py::test_a_token_that_is_no_longer_taken_is_made_again_once
K63 E A secondary limit waits as told and is not mistaken for a missing permission
src ThrillhouseBot#568, #723, #820; octokit/plugin-throttling#667
by webhook_app/github/test_client.py::test_a_secondary_limit_says_how_long_to_wait
by webhook_app/github/test_pace.py::test_a_closed_door_lets_nothing_through_until_it_opens
K64 E What was sent and not answered is unknown, and is not sent again
src smg#2441; mcheemaa/mistri#26; tya5/reyn#2600; composio#3654; hostinger/api-mcp-server#68; verifiers#2154
by system/test_bad_weather.py::test_a_crash_while_the_tool_runs_leaves_unknown_and_is_read_back
by webhook_app/test_command_toolkit.py::test_only_an_answer_settles_an_apply
K65 E One key is one call: the same gives its result, another is a conflict
src tapir-archicad-MCP#23
by webhook_app/test_http_door.py::test_the_same_key_gives_the_same_proposal_and_another_call_a_conflict
by proposals/test_gate.py::test_a_key_whose_call_failed_does_not_run_again
K66 E Two approvals in one moment run once
src runatlantis/atlantis#2148
by system/test_bad_weather.py::test_two_approvals_in_the_same_moment_apply_once
by proposals/test_store.py::test_it_starts_once
K67 E One item of a batch does not run again when another goes on
src rancher/rancher-ai-agent#136
by system/test_langgraph.py::test_a_node_that_is_run_again_asks_and_runs_nothing_again
by system/test_langgraph.py::test_parallel_calls_are_decided_each_by_its_own_page
K68 E Two calls of one tool are two proposals
src smg#2441
by cases/test_binding.py::test_an_approval_of_one_plan_is_none_of_another
by system/test_check_run_form.py::test_each_plan_of_a_page_is_decided_about_alone
K69 F The summary is made by code from the plan, the agent's words stand apart, and nothing is cut in silence
src letta-code#1584; automic-vault#157; hermes-agent#44691; local-operator#114; Lies-in-the-Loop (Checkmarx 2025-09)
by webhook_app/test_render.py::test_the_exact_plan_can_be_read_back_from_the_page
by webhook_app/test_render.py::test_a_plan_that_does_not_fit_says_its_size_and_where_it_is
by webhook_app/test_render.py::test_the_agents_words_are_all_there_and_quoted
K70 F Invisible and direction-changing characters are spelled and counted
src CVE-2021-42574; opendatahub-io/kserve#1518; skillsaw#404
by webhook_app/test_render.py::test_hidden_characters_are_spelled_and_counted
by cases/test_view.py::test_hidden_characters_of_an_agent_are_spelled_and_counted
by proposals/test_receipt.py::test_every_control_and_format_character_is_escaped
K71 F No HTML of a plan or an agent comes alive
src Trail of Bits 2025-08-06 via hacktricks#1251
by webhook_app/test_render.py::test_no_text_of_others_comes_alive
by cases/test_view.py::test_an_agents_words_reach_neither_title_nor_history_and_stay_text
K72 F Nobody is mentioned by a plan or an agent
src renovate#1083, #1238, #2558; dependabot-core#427, #2820, #3157, #12683
by cases/test_view.py::test_an_agents_words_reach_neither_title_nor_history_and_stay_text
by webhook_app/test_render.py::test_no_text_of_others_comes_alive
K73 F No reference or closing keyword of others is live in page or commit
src dependabot-core#3276
by cases/test_view.py::test_an_agents_words_reach_neither_title_nor_history_and_stay_text
by webhook_app/test_render.py::test_a_merge_message_ends_in_trailers
K74 F No image and no link of others is loaded or live
src garak#1930, #166
by webhook_app/test_render.py::test_no_text_of_others_comes_alive
K75 F A plan that does not fit says how much is missing and where all of it is; too large is refused
src manual-approval#89; renovate#2032; danger#424; docker/scout-action#66
by webhook_app/test_render.py::test_whatever_the_size_the_page_fits_and_a_button_means_whole
by webhook_app/test_render.py::test_a_plan_that_does_not_fit_gets_no_approve_button
by proposals/test_runner.py::test_what_cannot_be_approved_is_not_pinned[larger-than-a-person-can-read]
K76 F A table loses no value
src measured: cmark-gfm
by webhook_app/test_render.py::test_the_table_loses_no_value_of_an_effect
by webhook_app/test_render.py::test_a_cell_is_one_cell
K77 G Integers that two readers could read differently are refused with a hint
src cyberphone/json-canonicalization#20; agentrust-io/agent-manifest#338
by cases/test_json.py::test_what_two_readers_could_read_differently_is_refused_with_a_hint[beyond-2-to-the-53]
by cases/test_json.py::test_neighbours_beyond_the_safe_range_never_share_a_digest
K78 G NaN and infinities are refused at the door
src measured: json.loads, pydantic
by cases/test_json.py::test_what_two_readers_could_read_differently_is_refused_with_a_hint[infinite]
by proposals/test_canonical.py::test_a_text_is_refused[overflows-to-infinity]
K79 G What is shown is what runs, however a number was written
src agentrust-io/agent-manifest#352; bernstein#5494
by cases/test_json.py::test_one_number_written_in_two_ways_is_one_call_and_runs_as_shown
by proposals/test_tools.py::test_arguments_come_back_as_their_canonical_bytes_say
K80 G Keys are ordered by UTF-16 units
src agentrust-io/agent-manifest#352; trace-spec#128; Cpanel-JSON-XS#248; vaara#637
by cases/test_json.py::test_keys_are_ordered_by_utf_16_units
by proposals/test_canonical.py::test_a_text_has_these_canonical_bytes
K81 G Lone surrogates, in keys too, are refused and break nothing
src erdtman/canonicalize#23; nlohmann/json#5297
by cases/test_json.py::test_what_two_readers_could_read_differently_is_refused_with_a_hint[lone-surrogate-key]
by proposals/test_canonical.py::test_a_text_is_refused[surrogate-in-a-key]
K82 G Text is not normalised, and what may only look like others is marked
src measured: NFC and NFD
by cases/test_json.py::test_what_looks_equal_has_another_digest[nfc-and-nfd]
by webhook_app/test_render.py::TestGolden::test_page_of_a_hostile_plan
K83 G Arguments are taken without conversion, and unknown ones are refused
src measured: pydantic
by cases/test_json.py::test_what_two_readers_could_read_differently_is_refused_with_a_hint[a-string-for-a-number]
by proposals/test_tools.py::test_arguments_that_do_not_fit_are_refused
K84 G What Python takes for equal is drift
src measured: True == 1
by proposals/test_plan.py::test_what_python_or_a_reader_takes_for_equal_is_drift
by cases/test_json.py::test_what_looks_equal_has_another_digest[true-and-one]
K85 G There is one canonical form, and digests and statements name their version
src agentrust-io/cmcp#588
by cases/test_json.py::test_digest_and_predicate_carry_their_version
by proposals/test_receipt.py::test_an_envelope_is_refused[signed-another-version]
K86 H The end of a proposal is a condition of the start, and no clock revives it
src liqiongyu/agentpack#361; palantir/policy-bot#598
by cases/test_time.py::test_an_approval_before_the_end_starts_nothing_after_it
by cases/test_time.py::test_a_clock_set_back_revives_nothing
K87 H A freeze holds what is approved
src Replit 2025-07: failureindex.ai, investigateai.org CF-2025-001, datapace.ai
by cases/test_time.py::test_a_freeze_holds_what_is_approved
by cases/test_binding.py::test_what_comes_after_the_last_look_still_stops_the_start[a-freeze]
by proposals/test_loop.py::test_a_write_that_fails_is_told_as_failed_whatever_the_model_says
by proposals/test_store_turns.py::test_a_call_stands_as_the_store_knows_it_now
K88 H An agent's or a record's word that something is approved is only a word
src Invariant Labs on GitHub MCP 2025-05-26; Claude Code Action 2026-06 (workloft.ai); facio.bot
by cases/test_time.py::test_no_argument_says_that_it_is_approved
by cases/test_time.py::test_an_agents_word_that_it_is_approved_is_only_a_word
K89 H Another spelling of a tool is no tool
src claude-code#79400, #6413, #2625, #15711, #10077, #7232
by cases/test_time.py::test_no_other_spelling_reaches_a_tool
by proposals/test_gate.py::test_what_is_not_declared_is_denied
by system/test_gateway.py::test_any_other_name_is_denied
K90 H The same call twice is one proposal
src design; cf. CoplayDev/unity-mcp#1304
by webhook_app/test_http_door.py::test_the_same_live_call_without_a_key_gives_the_same_proposal
by proposals/test_store.py::test_the_same_call_has_one_live_proposal
by system/test_restraint.py::test_only_so_many_proposals_of_an_agent_wait
by system/test_restraint.py::test_only_so_much_cost_of_an_agent_waits
by system/test_gateway.py::test_what_a_person_rejected_is_not_asked_again_for_an_hour
K91 H An undo never overwrites what was changed since, needs its own approval and runs once
src argon-lab/argon#17; fy-agent/fyagent#61; LibreChat#15369; framekit#342; open-thymos#8
by system/test_undo.py::test_what_was_changed_since_is_a_conflict_that_says_what
by system/test_undo.py::test_what_is_as_before_is_undone_already
by system/test_undo.py::test_asking_twice_gives_the_same_undo_and_it_is_done_once
K92 H After a failure that was none, the world is read and nothing is repeated
src same class as K64
by system/test_main_job.py::test_outcomes_are_told_as_they_are[no-answer-but-the-world-shows-it]
by system/test_bad_weather.py::test_an_unknown_outcome_stays_unknown_until_a_person_says
K93 H Each stance is shown as counted or not, with the reason
src palantir/policy-bot#266, #239, #959
by cases/test_view.py::test_a_stance_that_does_not_count_is_shown_with_its_reason
by checks/test_wording.py::test_everyone_heard_stands_in_the_table
K94 H A comment is marked as seen at intake, and the outcome is told only after the receipt
src nixpkgs-merge-bot#148
by cases/test_view.py::test_a_comment_is_marked_as_seen
by system/test_bad_weather.py::test_whatever_fails_while_telling_it_is_applied_and_told_once
K95 H No proposal ever needs "Update branch"
src palantir/policy-bot#460, #788; superplane#4132
by cases/test_binding.py::test_what_happens_on_the_ledger_makes_no_page_stale
K96 H There is no approval for what is pushed or planned later
src pipelines-as-code#1798, #2028; kubernetes/test-infra#10118
by system/test_main_job.py::test_replan_opens_a_linked_proposal
by system/test_main_job.py::test_a_push_to_the_branch_ends_it
K97 I Shas are compared, never times
src palantir/policy-bot invalidateReviewOnPush; bors-ng#986; freelawproject/litigant-portal#725; me2resh/apexyard#1197
by checks/test_judge.py::test_verdict[other_head: a review]
by webhook_app/github/test_facts.py::test_a_review_stands_only_as_it_was_delivered[review-of-another-commit]
K98 I A head that moves after the last look still stops the start
src github/branch-deploy v12 acceptance tests
by cases/test_binding.py::test_what_comes_after_the_last_look_still_stops_the_start
K99 I An answer about something other than what was sent is no success
src github/branch-deploy "deployment SHA mismatch rejection"
by webhook_app/github/test_statements.py::test_an_answer_about_other_bytes_is_foreign
by webhook_app/github/test_publish.py::test_a_push_between_branch_and_plan_is_refused
K100 I Two sources that disagree about the head are refused
src github/branch-deploy "graphql commit mismatch rejection"
but does not apply: the head is read by GraphQL alone; a stale answer of it is K129
K101 I A plan file edited on the branch is never read back
src inference; cf. runatlantis/atlantis#6605
by cases/test_binding.py::test_a_push_just_before_the_approval_is_seen_though_nobody_told_of_it[plan.json]
by webhook_app/github/test_publish.py::test_another_plan_on_the_branch_is_refused
by system/test_audit.py::test_tampering_is_found_with_its_file_and_commit[edited-plan]
K102 I A retarget while the tool runs merges into no other branch
src runatlantis/atlantis BaseRetargetDuringApplyDoesNotPublishSuccessCommitStatus
by cases/test_binding.py::test_a_retarget_during_the_run_merges_into_no_other_branch
K103 I An "Update branch" is a push like any other
src palantir/policy-bot ignoreUpdateMerge; strands-labs/robots#3190
by system/test_main_job.py::test_a_push_to_the_branch_ends_it
K104 I A review that GitHub itself dismissed counts no more
src rust-bitcoin/corepc#245; spr#176, #183
by cases/test_people.py::test_an_approval_taken_back_before_the_start_counts_no_more
by webhook_app/github/test_facts.py::test_a_dismissed_review_is_dismissed_and_its_dismisser_looked_up
K105 I The digest is fixed when the plan is shown
src aks129/HealthClawGuardrails#658, #659, #705, #699
by webhook_app/test_render.py::test_the_page_never_changes
by proposals/test_plan.py::test_a_pinned_plan_does_not_change_with_what_it_was_made_of
K106 I What a plan depends on is pinned with it and asked again inside the change
src openclaw#124738, #124858, #124930
by sandbox/test_example_tools.py::test_a_row_that_changed_since_stops_all_of_it
by proposals/test_plan.py::test_a_difference_names_its_path[a-precondition]
K107 I "Once" is once
src openclaw#24826
by cases/test_binding.py::test_what_was_applied_stays_applied_once_over_restarts
by system/test_bad_weather.py::test_one_delivery_sent_ten_times_applies_once
K108 J Who wrote or co-wrote a commit on the branch is out: any such commit ends the proposal
src palantir/policy-bot contributorsCannotApprove, #583, #439
by checks/test_judge.py::test_verdict[contributor: pushed to the branch]
by system/test_main_job.py::test_a_push_to_the_branch_ends_it
K109 J Who pushed is known from the push itself
src strands-labs/robots#1814, #1921, #2907; sigstore/community#263
by webhook_app/test_deliveries.py::test_what_is_said[push]
by checks/test_judge.py::test_verdict[contributor: pushed to the branch]
K110 J Contributors on the other side of a merge are found
src palantir/policy-bot sortCommits (inference)
but does not apply: any commit but our own ends the proposal, so there is no list of authors to walk
K111 J A commit of nobody proves nothing
src palantir/policy-bot; me2resh/apexyard#1197
but does not apply: any commit but our own ends the proposal, whoever wrote it
K112 J Bots approve nothing
src kubernetes-sigs/prow, #688
by checks/test_judge.py::test_verdict[not_a_person: an App]
by cases/test_people.py::test_every_surface_asks_the_same_questions
K113 J A comment written through an App approves nothing
src objectstack-ai/objectstack#18168
by cases/test_people.py::test_a_comment_by_a_persons_token_through_an_app_does_not_count
K114 J A deleted user counts for nothing and breaks nothing
src nixpkgs#436777; gh4a#1102; grok-mcp-server#497; github/branch-deploy
by cases/test_intake.py::test_whoever_cannot_be_named_says_nothing[ghost]
by webhook_app/test_deliveries.py::test_what_says_nothing[ghost]
K115 J Read access approves nothing, and public repositories are refused unless allowed
src runatlantis/atlantis docs; hyperdx#2546
by cases/test_people.py::test_a_reader_approves_on_no_surface
by webhook_app/github/test_places.py::test_a_public_repository_is_refused_unless_allowed
K116 J Every role is told by its own name
src palantir/policy-bot CollaboratorPermission
by webhook_app/github/test_facts.py::test_every_role_is_told_by_its_own_name
K117 J Only active members of a team count
src palantir/policy-bot; runatlantis/atlantis#4619, #6107, #6365
by cases/test_people.py::test_only_active_members_of_the_team_named_count
by webhook_app/github/test_facts.py::test_team_membership[pending-is-no]
K118 J Teams are named by slug, never by what they are called
src runatlantis/atlantis#5509
by checks/test_policy.py::test_what_cannot_be_a_name_is_refused
by cases/test_people.py::test_only_active_members_of_the_team_named_count[of-a-team-of-a-similar-name]
by checks/test_judge.py::test_verdict_by_policy[not_in_group: the team of another organisation]
K119 J Every way to approve asks the same questions
src runatlantis/atlantis#4962, #3908, #4813; diggerhq/digger#2689
by cases/test_people.py::test_every_surface_asks_the_same_questions
by checks/test_judge.py::test_nothing_is_approved_without_a_person_for_every_policy
K120 J A suspended or blocked user does not count
src design: no peer evidence
by webhook_app/github/test_facts.py::test_only_200_says_what_a_person_may_do[404-is-no]
by cases/test_people.py::test_who_lost_access_since_no_longer_counts
K121 J Who decided comes from that one delivery, never from a body or another's
src vercel/eve#1370; novuhq/novu#12566; edictum-console#19
by cases/test_intake.py::test_whoever_cannot_be_named_says_nothing
by cases/test_people.py::test_words_put_into_anothers_mouth_do_not_count
by webhook_app/test_http_door.py::test_what_cannot_be_asked_says_why_and_what_to_send[unknown-member]
K122 K A dismissal revives no earlier approval; a review that is not submitted says nothing
src palantir/policy-bot#119
by checks/test_judge.py::test_verdict[superseded_stance: a dismissal revives no earlier yes]
by cases/test_commands.py::test_the_state_of_a_review_decides_and_its_words_do_not[pending]
K123 K A block dismissed by anyone but an eligible person still blocks
src runatlantis/atlantis PullIsApproved; bors-ng tests
by checks/test_judge.py::test_verdict[blocked: a reader's dismissal lifts nothing]
by checks/test_counting.py::test_eligible_under_one_policy_is_enough_for_a_no_but_not_for_lifting_one
K124 K Dismissing one review leaves the others alone
src kubernetes-sigs/prow "dismissed review doesn't cancel prior approval"
by checks/test_counting.py::test_a_no_by_someone_else_takes_nothing_back
by checks/test_counting.py::test_two_reviews_dismissed_one_by_one
K125 K A reworded review stays the approval that it was
src palantir/policy-bot#1083
by cases/test_binding.py::test_a_reworded_review_stays_the_approval_that_it_was
K126 K A draft is not approved
src github/branch-deploy; kubernetes-sigs/prow
by cases/test_people.py::test_a_draft_is_not_approved
K127 K A delivery sent again is handled once, from a durable table
src github/docs#32822; plan42#1457; pr-agent#3373; loopover#789
by proposals/test_store.py::test_a_redelivery_is_seen_once
by system/test_bad_weather.py::test_one_delivery_sent_ten_times_applies_once
K128 K What is acknowledged is kept, however much comes
src palantir/policy-bot#960
by webhook_app/test_webhook_door.py::test_a_delivery_is_kept_before_it_is_acknowledged
by proposals/test_store.py::test_everything_acknowledged_is_there_after_reopening
K129 K While GitHub's API is older than its own delivery nothing runs, and it is looked at again
src palantir/policy-bot#47; bulldozer#187; the-knights-who-say-ni#86; highfive#190
by cases/test_intake.py::test_while_github_has_not_caught_up_with_its_own_delivery_nothing_runs
K130 K An approval right after the opening counts: shas decide, not seconds
src palantir/policy-bot README
by checks/test_judge.py::test_verdict[said at the moment of the opening]
K131 K A no that comes in the moment of the start wins; after it, its author is told that it is too late
src inference
by system/test_bad_weather.py::test_a_rejection_in_the_moment_of_the_start_stops_it
by cases/test_intake.py::test_a_reject_after_the_start_is_answered_and_undoes_nothing
K132 K Expired is refused by the start itself, and a late approval is told so
src edictum-console#19; octos#1451; agent-os#1613; breeze#3090; opencompany#1805
by proposals/test_store.py::test_nothing_starts_when[expired-this-instant]
by cases/test_binding.py::test_what_comes_after_the_last_look_still_stops_the_start[its-end]
by system/test_main_job.py::test_expiry_ends_it_and_a_late_approval_is_told_so
by system/test_main_job.py::test_people_are_warned_once_before_it_ends
K133 K All pages are read; pages that go in a circle are not believed
src github/branch-deploy acceptance tests
by webhook_app/github/test_facts.py::test_reviews_beyond_the_first_page_are_read
by webhook_app/github/test_facts.py::test_pages_that_go_in_a_circle_make_the_reviews_unreadable
K134 K An unknown state of a review says nothing, and GitHub's own summary is not read
src github/branch-deploy "fails closed for an unknown review decision"
by cases/test_commands.py::test_the_state_of_a_review_decides_and_its_words_do_not[a-state-that-nobody-knows]
K135 K No rule is a no, and says so
src palantir/policy-bot#411, #333
by checks/test_judge.py::test_verdict_by_policy[no_rule: one policy has none for the tool]
by checks/test_explain.py::test_a_tool_without_a_rule_lets_nobody_approve
K136 L Forks are refused unless allowed
src github/branch-deploy v12
by system/test_check_run_form.py::test_a_fork_is_refused
K137 L The receipt moves no head
src palantir/policy-bot#788
by cases/test_binding.py::test_the_receipt_moves_no_head
K138 L Our own doings come back and are not heard
src palantir/policy-bot
by webhook_app/test_deliveries.py::test_what_we_caused_ourselves
by proposals/test_store.py::test_a_delivery_leaves_alone_what_it_is_not_about[our-own-doing]
K139 L A start whose record cannot be read runs nothing and is not repaired by guess
src github/branch-deploy "ambiguous lock fails closed"
by webhook_app/github/test_statements.py::test_when_nothing_can_be_read_nothing_is_proven
by system/test_statements.py::test_a_start_that_somebody_else_wrote_halts_the_repository
K140 L A stop that cannot be read stops
src runatlantis/atlantis docs, #6533
by system/test_statements.py::test_a_start_that_somebody_else_wrote_halts_the_repository
but does not apply in full: a stop lies in the store whose one UPDATE starts, so neither is there without the other
K141 L A rate limit in the middle of a decision is neither yes nor no
src palantir/policy-bot#136, #1373
by cases/test_people.py::test_a_rate_limit_in_the_middle_of_a_decision_is_neither_yes_nor_no
K142 L No administrator passes by the rules
src orgs/community#212677
by system/test_bad_weather.py::test_a_persons_merge_approves_nothing
but there is no override; a person with the server's files can do anything, and docs/security.md says so
F01 M Every call has a proposal of its own, decided by its own page
src langchain-ai/langgraph#6533, #6626, #6542
by system/test_langgraph.py::test_parallel_calls_are_decided_each_by_its_own_page
by system/test_langgraph.py::test_a_resume_is_for_one_interrupt_alone
F02 M A resumed run reads the receipt and runs nothing again
src langchain-ai/langgraph#6208, #6577
by system/test_langgraph.py::test_a_node_that_is_run_again_asks_and_runs_nothing_again
by system/test_langgraph.py::test_a_fork_from_before_the_calls_finds_the_same_proposal
F03 M The first decision is final, whatever an old checkpoint says
src langchain-ai/langgraph#6663
by system/test_langgraph.py::test_a_checkpoint_that_is_resumed_again_finds_the_receipt
by cases/test_intake.py::test_a_reject_after_the_start_is_answered_and_undoes_nothing
F04 M A denial ends it where the tool is run, whatever stands before that
src langchain-ai/langchain#40492, #37093
by system/test_gateway.py::test_a_paused_call_that_people_rejected_is_denied_when_it_is_resumed
by proposals/test_lifecycle.py::test_nothing_leaves_an_end
F05 M Other arguments are another plan, with an approval of its own
src langchain-ai/langchain#40166
by system/test_langgraph.py::test_a_fork_with_other_arguments_is_another_proposal
by traps/test_traps.py::test_nothing_ran_that_nobody_had_approved
F06 M What was denied is answered with the denial, not asked again
src langchain-ai/deepagents#2946
by system/test_gateway.py::test_what_a_person_rejected_is_not_asked_again_for_an_hour
by system/test_gateway.py::test_a_plan_that_was_rejected_is_not_asked_again_by_another_agent
F07 M One rejection leaves the approved ones beside it alone
src langchain-ai/langchainjs#10176, #11391, #11125
by system/test_langgraph.py::test_parallel_calls_are_decided_each_by_its_own_page
F08 M The gate is below the framework: no setting or mode of a client goes round it
src openai/openai-agents-python#4244, #4429; openai/openai-agents-js#647, #243
by system/test_gateway.py::test_every_door_gives_one_call_the_same_result
by proposals/test_gate.py::test_no_setting_reaches_the_policy_that_lets_everything_run
by proposals/test_gate.py::test_no_agent_reads_past_the_gate
F09 M What is approved is what the executor runs, not what the model said
src pydantic/pydantic-ai#6968
by cases/test_binding.py::test_the_tool_gets_exactly_the_pinned_plan
F10 M Anything but a yes is a no
src pydantic/pydantic-ai#8060
by system/test_langgraph.py::test_a_resume_that_lies_changes_nothing
by proposals/test_gate.py::test_without_a_policy_nothing_runs
by cases/test_attacks_again.py::test_words_that_only_look_like_a_yes
F11 M An approval is of one plan and is used up by its start: a retry runs nothing again
src pydantic/pydantic-ai#5536
by proposals/test_store.py::test_it_starts_once
by system/test_bad_weather.py::test_a_crash_while_the_tool_runs_leaves_unknown_and_is_read_back
F12 M No client can fake a verdict
src google/adk-python#7148; google/adk-go#876; assistant-ui/assistant-ui#5901
by system/test_langgraph.py::test_a_resume_that_lies_changes_nothing
by system/test_gateway.py::test_a_client_that_opens_addresses_is_offered_the_page_once_and_it_never_counts
by cases/test_attacks_again.py::test_headers_that_claim_to_be_from_the_socket
F13 M A caller that stops waiting starts nothing, and an approval outlives its process
src anthropics/claude-agent-sdk-python#304; anthropics/claude-agent-sdk-typescript#470, #96
by webhook_app/test_http_door.py::test_a_plan_that_takes_long_goes_on_without_its_caller
by system/test_bad_weather.py::test_what_was_approved_while_the_server_was_down_is_applied_when_it_is_back
F14 M Two decisions at once, one effect
src nitin27may/e-commerce-agents#28; heymrun/heym#563
by system/test_bad_weather.py::test_two_approvals_in_the_same_moment_apply_once
by system/test_confirm.py::test_two_calls_with_one_token_make_one_change
F15 M Approving one leaves the others waiting: nothing means the latest
src vercel/eve#2471
by cases/test_binding.py::test_an_approval_of_one_plan_is_none_of_another
by cases/test_agents.py::test_one_agent_that_waits_holds_up_no_other_and_no_id_is_of_two
F16 M A token comes back as it went out, and a denial is a normal result
src vercel/ai#16334, #14428
by system/test_confirm.py::test_a_preview_does_nothing_and_its_token_does_it_once
by system/test_langgraph.py::test_a_call_that_is_not_taken_is_a_result_that_says_so
F17 M Credentials are behind the executor alone
src microsoft/agent-framework#5494; UKGovernmentBEIS/inspect_ai#4944
by webhook_app/test_command_toolkit.py::test_each_verb_sees_only_its_own_environment
by webhook_app/test_mcp_upstreams.py::test_nothing_of_ours_travels_with_a_call
by webhook_app/test_doctor.py::test_every_ungated_original_is_named_until_it_is_gone
F18 M The reads of a batch run while its writes wait
src microsoft/agent-framework#4879
by system/test_langgraph.py::test_parallel_calls_are_decided_each_by_its_own_page
F19 M Permission is looked up when it is decided and once more before the start
src trstringer/manual-approval#182
by cases/test_people.py::test_who_lost_access_since_no_longer_counts
by cases/test_attacks_again.py::test_permission_goes_in_the_moment_of_the_yes
F20 M A new plan voids the approval of the old one
src runatlantis/atlantis#1508, #2112, #3254
by cases/test_binding.py::test_a_plan_that_was_replaced_never_runs_again
by cases/test_binding.py::test_of_two_equal_plans_the_second_finds_the_world_changed
F21 M The requester's people never approve, and what an app says for a person counts for nothing
src microsoft/vstest#16063
by cases/test_people.py::test_every_surface_asks_the_same_questions[requester]
by cases/test_people.py::test_a_comment_by_a_persons_token_through_an_app_does_not_count
F22 M One that waits holds up nobody, and no id is of two
src agentrq/acp-gateway#39
by cases/test_agents.py::test_one_agent_that_waits_holds_up_no_other_and_no_id_is_of_two
F23 M A gate that is not there lets nothing through
src aws/aws-lc-rs#1226
by cases/test_agents.py::test_a_policy_that_is_missing_lets_nobody_approve
by proposals/test_gate.py::test_without_a_policy_nothing_runs
F24 M What is applied equals what was shown
src confirm-before-write, first check
by system/test_four_checks.py::test_what_is_applied_equals_what_was_shown
F25 M No model is called between the approval and the change
src confirm-before-write, second check
by system/test_four_checks.py::test_no_model_is_called_between_the_approval_and_the_change
F26 M Text injected after the preview changes nothing
src confirm-before-write, third check
by system/test_four_checks.py::test_injected_text_after_the_preview_changes_nothing
F27 M A double approval makes one change
src confirm-before-write, fourth check
by system/test_four_checks.py::test_a_double_approval_makes_one_change
F28 M Weak models breach nothing, in every way they are known to try
src docs/traps.md
by traps/test_traps.py::test_nothing_ran_that_nobody_had_approved
by traps/test_guards.py::test_without_it_a_job_breaches
F29 M A declared secret stands nowhere but with its tool, and another secret is another plan
src Agent Approval Protocol 1.0, which has no redaction on the wire
by system/test_secrets.py::test_a_secret_reaches_the_tool_and_nothing_else
by system/test_secrets.py::test_another_secret_has_another_digest
by system/test_secrets.py::test_a_secret_that_changed_before_the_approval_is_drift
F30 M What a server says of its own tools makes a guess stricter, never milder
src npm server-everything, whose `get-env` is marked as a mere read
by webhook_app/test_suggesting.py::test_a_server_s_own_words_never_make_a_guess_milder
by webhook_app/test_suggesting.py::test_nothing_that_a_server_says_leaves_its_place
by webhook_app/test_suggesting.py::test_a_confirmed_start_loads_and_every_tool_can_be_called
F31 M A dry run is believed once it was seen to change nothing, and not before
src symaira-vault#64; codecoradev/uteke#1065
by system/test_previews_proved.py::test_the_filesystem_servers_dry_run_is_proven_and_then_trusted
by system/test_previews_proved.py::test_a_dry_run_that_writes_at_once_is_told_as_none
by system/test_previews_proved.py::test_a_dry_run_whose_job_writes_later_is_found_by_the_last_reading
F32 M What Placet calls by itself, to read before and after and to go back, no agent can call
src microsoft/agent-framework#5494
by system/test_contract_example.py::test_what_recipes_alone_name_no_agent_can_call_at_any_door
by system/test_contract_example.py::test_what_recipes_alone_name_is_not_listed_over_mcp
F33 M What somebody accepts at the client proves no more than the token of its preview
src MCP SEP-1036; anthropics/claude-code#88075; openai/codex#45776
by system/test_forms.py::test_a_client_that_lies_about_a_form_meets_the_same_four_refusals
by system/test_forms.py::test_declining_the_form_voids_the_preview_and_every_token_of_it
by system/test_gateway.py::test_a_client_that_opens_addresses_is_offered_the_page_once_and_it_never_counts
F34 M A server that was started again is found again, and nothing is done twice for it
src modelcontextprotocol/python-sdk#520, #880, #1004, #1676; fastmcp#1003
by system/test_bridge.py::test_a_server_that_was_started_again_is_found_again
by cases/test_attacks_third_mcp.py::test_a_call_whose_answer_is_lost_is_not_sent_again_by_the_bridge
by cases/test_attacks_third_mcp.py::test_only_what_was_refused_for_want_of_a_session_is_sent_again
by system/test_bridge_endures.py::test_a_server_that_forgets_each_session_at_once_is_not_asked_for_ever
by webhook_app/test_mcp_upstreams.py::test_a_read_whose_server_is_killed_is_asked_once_more
by webhook_app/test_mcp_upstreams.py::test_a_write_whose_server_dies_is_unknown_and_not_repeated
by webhook_app/test_sent_once.py::test_a_change_whose_connection_breaks_is_sent_once
by webhook_app/test_sent_once.py::test_a_call_whose_answer_is_lost_is_made_once
F35 M One broken tool, or one broken server, takes no other with it
src fastmcp#3466; modelcontextprotocol/python-sdk#360
by webhook_app/test_mcp_upstreams.py::test_a_bad_tool_is_quarantined_and_the_others_are_not
by webhook_app/test_mcp_upstreams.py::test_a_server_that_cannot_be_reached_stops_its_own_tools_alone
F36 M Nothing of a caller's envelope, and no credential of another, reaches a server of tools
src fastmcp, whose proxies hand on what headers come in
by system/test_gateway.py::test_nothing_of_the_callers_envelope_reaches_the_calendar
by webhook_app/test_mcp_upstreams.py::test_nothing_of_ours_travels_with_a_call
by webhook_app/test_mcp_upstreams.py::test_a_child_sees_path_home_lang_and_what_is_declared
F37 M A call that waits for people is answered at once, whatever a client's patience is
src modelcontextprotocol/typescript-sdk#2250; anthropics/claude-ai-mcp#115
by system/test_gateway.py::test_a_proposal_is_waited_for_listed_and_taken_back
by webhook_app/test_http_door.py::test_a_plan_that_takes_long_goes_on_without_its_caller
"""


def _case(block: str) -> Case:
    first, *lines = block.splitlines()
    id_, group, holds = first.split(" ", 2)
    told = [line.split(" ", 1) for line in lines]
    of = {kind: [text for k, text in told if k == kind] for kind in ("src", "by", "but")}
    if len(told) != sum(map(len, of.values())):
        raise ValueError(f"{id_} has a line of an unknown kind")
    [source] = of["src"]
    by = tuple(f"tests/{node}" for node in of["by"])
    return Case(id_, group, holds, source, by, " ".join(of["but"]))


CASES = tuple(_case(block.rstrip()) for block in re.split(r"\n(?=[KF]\d)", TEXT)[1:])
