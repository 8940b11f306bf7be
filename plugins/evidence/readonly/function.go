package readonly

import (
	"slices"
	"strings"
)

// functions are the names that may be called. Each is built into MySQL and MariaDB alike, so that no stored function can
// stand behind it; none waits, locks, reads or writes files, talks to anybody, or remembers anything.
const functions = `
abs acos asin atan atan2 ceil ceiling cos cot crc32 degrees exp floor ln log log10 log2 mod pi pow power radians round
sign sin sqrt tan truncate greatest least coalesce if ifnull nullif isnull interval
ascii bin bit_length char_length character_length concat concat_ws elt field find_in_set format hex instr lcase left
length locate lower lpad ltrim mid oct octet_length ord position quote repeat replace reverse right rpad rtrim space
strcmp substr substring substring_index trim ucase unhex upper md5 sha1 sha2 inet_aton inet_ntoa inet6_aton inet6_ntoa
adddate addtime convert_tz curdate current_date current_time current_timestamp curtime date date_add date_format
date_sub datediff day dayname dayofmonth dayofweek dayofyear extract from_days from_unixtime hour last_day localtime
localtimestamp makedate maketime microsecond minute month monthname now period_add period_diff quarter sec_to_time
second str_to_date subdate subtime sysdate time time_format time_to_sec timediff timestamp timestampadd timestampdiff
to_days to_seconds unix_timestamp utc_date utc_time utc_timestamp week weekday weekofyear year yearweek
json_contains json_contains_path json_depth json_extract json_keys json_length json_quote json_search json_type
json_unquote json_valid json_value
cast database schema version
count sum avg min max group_concat bit_and bit_or bit_xor std stddev stddev_pop stddev_samp var_pop var_samp variance
json_arrayagg json_objectagg
row_number rank dense_rank cume_dist percent_rank ntile lead lag first_value last_value nth_value
`

// Functions lists every function that may be called, in lower case.
func Functions() []string { return strings.Fields(functions) }

// allowed reports whether a function may be called. The name is in lower case.
func allowed(name string) bool {
	return slices.Contains(Functions(), name)
}
