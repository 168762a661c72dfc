"""Which header of the standard library declares which of its names, for rules_includes.py.

A header counts for what the standard says that it declares, and for what it must make complete to do
so: <string> has std::size_t, std::move and std::initializer_list."""

_COMMON = "size_t ptrdiff_t initializer_list move forward swap pair begin end size data"
_STRINGS = "string_view string hash char_traits string_literals string_view_literals"

_BY_HEADER = {
    "algorithm": "min max minmax clamp sort stable_sort any_of all_of none_of find find_if count count_if fill"
                 " fill_n copy copy_n copy_if copy_backward unique max_element min_element minmax_element reverse"
                 " lower_bound upper_bound equal_range binary_search equal rotate replace replace_if remove_if"
                 " shuffle stable_partition partition nth_element transform is_sorted adjacent_find mismatch"
                 " for_each generate search merge is_permutation set_difference includes partial_sort"
                 " push_heap pop_heap make_heap find_first_of remove find_if_not partition_point swap_ranges ranges",
    "array": "array to_array tuple_size " + _COMMON,
    "atomic": "atomic atomic_ref atomic_flag atomic_thread_fence atomic_signal_fence memory_order"
              " memory_order_relaxed memory_order_acquire memory_order_release memory_order_acq_rel"
              " memory_order_seq_cst",
    "barrier": "barrier",
    "bit": "popcount bit_width bit_ceil bit_floor rotl rotr countr_zero countl_zero countl_one countr_one"
           " has_single_bit bit_cast endian",
    "bitset": "bitset",
    "charconv": "from_chars to_chars chars_format from_chars_result to_chars_result errc",
    "chrono": "chrono ratio ratio_greater_v nano chrono_literals",
    "cmath": "pow sqrt floor ceil log log2 log10 exp expm1 abs isfinite isnan isinf llround lround round nan cbrt"
             " fabs fmod trunc",
    "compare": "strong_ordering weak_ordering",
    "concepts": "same_as convertible_to invocable integral derived_from constructible_from default_initializable"
                " unsigned_integral floating_point regular",
    "condition_variable": "condition_variable condition_variable_any cv_status",
    "csignal": "signal raise sig_atomic_t",
    "cstddef": "size_t ptrdiff_t byte to_integer max_align_t nullptr_t",
    "cstdint": "uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t uintptr_t intptr_t",
    "cstdio": "FILE printf fprintf snprintf vsnprintf fputs puts fputc fopen fclose fwrite fread fflush fseek"
              " ftell getc fgets rename perror size_t",
    "cstdlib": "getenv strtoull strtoll strtoul strtol strtod strtold exit abort malloc free realloc calloc atoi"
               " abs system atexit size_t quick_exit llabs",
    "cstring": "memcpy memset memcmp memmove memchr strlen strcmp strncmp strchr strrchr strstr strerror"
               " strcspn size_t",
    "clocale": "setlocale",
    "ctime": "time_t tm time strftime gmtime localtime clock",
    "cwchar": "mbstate_t mbrtowc",
    "deque": "deque erase erase_if " + _COMMON,
    "exception": "exception exception_ptr current_exception rethrow_exception uncaught_exceptions terminate"
                 " make_exception_ptr",
    "filesystem": "filesystem error_code",
    "fstream": "ifstream ofstream fstream ios getline istreambuf_iterator",
    "functional": "function hash less less_equal greater greater_equal equal_to not_equal_to identity invoke ref"
                  " cref plus minus multiplies bind_front reference_wrapper",
    "future": "future promise shared_future future_status async",
    "initializer_list": "initializer_list",
    "iomanip": "setprecision setw setfill",
    "iostream": "cin cout cerr clog flush endl ios",
    "ostream": "ostream",
    "iterator": "back_inserter inserter istreambuf_iterator make_move_iterator distance next prev advance size"
                " begin end data ssize input_iterator forward_iterator",
    "limits": "numeric_limits",
    "list": "list erase erase_if " + _COMMON,
    "map": "map multimap erase_if pair less tuple forward_as_tuple piecewise_construct " + _COMMON,
    "memory": "unique_ptr shared_ptr weak_ptr make_unique make_shared default_delete addressof construct_at"
              " destroy_at enable_shared_from_this allocator allocator_arg align uninitialized_copy_n"
              " make_unique_for_overwrite",
    "mutex": "mutex recursive_mutex timed_mutex lock_guard unique_lock scoped_lock lock try_lock defer_lock adopt_lock_t adopt_lock"
             " adopt_lock try_to_lock once_flag call_once",
    "new": "bad_alloc nothrow nothrow_t set_new_handler get_new_handler new_handler align_val_t launder"
           " hardware_destructive_interference_size",
    "numeric": "accumulate iota partial_sum gcd lcm midpoint reduce inner_product",
    "optional": "optional nullopt nullopt_t in_place make_optional",
    "random": "mt19937 mt19937_64 random_device uniform_int_distribution uniform_random_bit_generator"
              " uniform_real_distribution bernoulli_distribution",
    "set": "set multiset erase_if less " + _COMMON,
    "shared_mutex": "shared_mutex shared_timed_mutex shared_lock",
    "span": "span as_bytes as_writable_bytes dynamic_extent byte size_t",
    "sstream": "ostringstream istringstream stringstream",
    "stdexcept": "runtime_error logic_error invalid_argument out_of_range length_error",
    "stop_token": "stop_token stop_source",
    "string": "to_string stoi stol stoll stoul stoull stod getline erase erase_if " + _STRINGS + " " + _COMMON,
    "string_view": "string_view hash char_traits string_view_literals size_t begin end size data",
    "system_error": "error_code errc error_category system_error generic_category system_category"
                    " make_error_code",
    "thread": "thread jthread this_thread stop_token stop_source",
    "tuple": "tuple tie make_tuple forward_as_tuple get apply tuple_element_t tuple_size_v ignore",
    "type_traits": "is_same_v is_same remove_reference_t remove_cvref_t remove_cv_t remove_const_t conditional_t"
                   " conditional bool_constant true_type false_type integral_constant is_invocable_r_v"
                   " is_invocable_v is_copy_constructible_v is_move_constructible_v is_trivially_copyable_v"
                   " is_nothrow_move_constructible_v is_const_v is_integral_v is_unsigned_v is_signed_v is_enum_v"
                   " is_void_v is_convertible_v is_base_of_v decay_t enable_if_t invoke_result_t void_t"
                   " underlying_type_t type_identity_t make_unsigned_t is_default_constructible_v add_const_t"
                   " is_standard_layout_v is_final_v is_empty_v is_constant_evaluated has_virtual_destructor_v"
                   " is_floating_point_v is_pointer_v is_reference_v is_lvalue_reference_v is_arithmetic_v"
                   " is_copy_assignable_v is_trivially_destructible_v is_class_v remove_pointer_t"
                   " has_unique_object_representations_v",
    "unordered_map": "unordered_map unordered_multimap erase_if hash pair equal_to " + _COMMON,
    "unordered_set": "unordered_set erase_if hash equal_to " + _COMMON,
    "utility": "move forward exchange swap pair make_pair declval in_place as_const index_sequence"
               " make_index_sequence index_sequence_for cmp_less in_range to_underlying integer_sequence"
               " in_place_type in_place_index piecewise_construct unreachable initializer_list tuple_size_v",
    "variant": "variant visit get get_if holds_alternative monostate variant_size_v variant_alternative_t"
               " variant_npos in_place_type in_place_index bad_variant_access",
    "vector": "vector erase erase_if " + _COMMON,
}

# From a name to the headers of which any one will do.
HEADERS_OF = {}
for _header, _names in _BY_HEADER.items():
    for _name in _names.split():
        HEADERS_OF.setdefault(_name, set()).add(_header)
